"""The searches of the survey: their budget, their estimate, and the options of the command."""

from math import inf

import pytest

from epochfuzz.harness.engine.explore.explore import SearchProgress
from epochfuzz.harness.lab import survey
from epochfuzz.harness.lab.survey_search import Budget, SearchEnd, StateGrowth, search
from epochfuzz.harness.reference import releases
from epochfuzz.model.kafka.contract.properties import BY_NAME
from epochfuzz.model.kafka.vocabulary.protocols import NAMED


def test_a_search_covers_only_complete_levels_when_its_time_ends():
    (end,) = search(NAMED["hw"], releases.WITHIN, {BY_NAME["convergence"].bit: 30}, Budget(1 << 30, seconds=0)).values()
    assert end == SearchEnd(None, covered=0, states=None)


def test_the_growth_of_a_search_estimates_the_states_of_a_deeper_search():
    growth = StateGrowth(deadline=inf)
    for depth, states in [(0, 3), (1, 5), (1, 9), (2, 20)]:
        growth.note(SearchProgress(depth, states, 0, 0))
    assert growth.states == {0: 1, 1: 3, 2: 9}
    assert [growth.estimate(depth) for depth in (3, 4, 6)] == [9, 27, 243]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["kafka-9"], "unknown protocol: kafka-9; choose from hw, "),
        (["--budget", "long"], "--budget: a duration is a number and s, m or h, such as 60s or 8h; got 'long'"),
    ],
)
def test_the_survey_rejects_a_wrong_option(words, message, capsys):
    with pytest.raises(SystemExit) as ended:
        survey.main(words)
    assert message in f"{ended.value.code} {capsys.readouterr().err}"
