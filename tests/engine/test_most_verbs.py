"""An event is a byte with a replica in its low three bits: there is room for 32 verbs, and the last is as the first."""

import numpy as np
import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.engine.shrink.shrink import shrink
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.model.core.fields import Field, State
from epochfuzz.model.core.model import Model
from epochfuzz.model.core.simple_model import (
    MOST_VERBS,
    ONE_REPLICA,
    REPLICA,
    ModelError,
    Property,
    Verb,
    simple_model,
    up_to,
)
from tests.engine.reached import LOSS, PATIENT, SETTINGS
from tests.engine.toy import append, copy, elect, is_lost

NEVER = 2  # a refusal


def idle(p: State, r: int) -> int:
    """Nothing."""
    return NEVER


def log_of(verbs: int) -> Model:
    """The toy log, with so many verbs of which its own are the last."""
    return simple_model(
        f"log of {verbs}",
        fields=(
            Field("length", up_to("records"), (REPLICA,)),
            Field("leader", ONE_REPLICA),
            Field("promised", up_to("records")),
            Field("held", up_to("elections")),
        ),
        verbs=(*[Verb(idle)] * (verbs - 3), Verb(append, dealt=20), Verb(copy, dealt=30), Verb(elect, dealt=10)),
        properties=(Property("no-loss", is_lost),),
        settings=dict(SETTINGS.numbers),
        bounds=("records", "elections"),
        protocols={"eager": {"waits": 0, "cuts": 1}, "patient": {"waits": 1, "cuts": 1}},
    )


FULL = log_of(MOST_VERBS)
EAGER = FULL.protocol("eager")


def test_its_last_event_is_the_last_there_is() -> None:
    assert FULL.events.parse("elect H") == 255
    assert FULL.events.text(255) == "elect H"


def test_a_search_visits_what_it_visits_with_three_verbs_and_finds_the_same() -> None:
    few, many = (explore(each, SETTINGS, LOSS, symmetric=False) for each in (PATIENT, FULL.protocol("patient")))
    assert (many.states, many.transitions, many.complete) == (few.states, few.transitions, True)
    shortest = explore(EAGER, FULL.settings, LOSS).shortest
    assert shortest is not None
    assert FULL.events.texts(shortest) == ["append A", "elect B"]


def test_a_walk_counts_what_the_last_verbs_do_and_shrinking_leaves_what_is_needed() -> None:
    walker = Walker([EAGER], FULL.settings, 1)
    tally = walker.walk(0, 200)
    assert 0 < tally.seen[0, 0] <= 200
    kinds = np.flatnonzero(tally.failures[0, 0])
    assert {*kinds.tolist()} <= {29, 30, 31}  # the verb after which it was broken first
    failing = walker.schedule(tally.candidates(0, 0)[0].schedule)
    assert FULL.events.texts(shrink(failing, EAGER, FULL.settings, LOSS)) == ["append A", "elect B"]


def test_a_verb_more_is_refused() -> None:
    with pytest.raises(ModelError, match="a model has at most 32 verbs; got 33"):
        log_of(MOST_VERBS + 1)
