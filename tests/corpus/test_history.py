"""Kafka's history: each replication bug found by the tool where its fix is missing, and gone where it is present."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.search.expectations import known_flaw
from epochfuzz.harness.search.explore import GIBIBYTE, explore
from epochfuzz.harness.search.shrink import Reproducer, certify
from epochfuzz.harness.search.walk import Walker
from epochfuzz.harness.witness.replay import replay
from epochfuzz.model import properties, state
from epochfuzz.model.execution import Execution
from epochfuzz.model.goals import Goal
from epochfuzz.model.observation import observe
from epochfuzz.model.protocols import GENERATIONS, Protocol, parse_protocol

HISTORY = {case.id: case for case in load_corpus([Path(__file__).parents[2] / "corpus" / "history"])}

JIRAS = {"1211", "2334", "3919", "6361", "6880", "7128", "7164", "7395", "7415"}

# By case, a protocol that has the fix; the one that the case was found in lacks it.
FIXED_IN = {
    "kafka-1211-truncation-to-high-watermark": "kip-101",
    "kafka-3919-power-outage": "kip-101",
    "kafka-6361-fast-leader-fail-over": "kip-279",
    "kafka-6880-zombie-replica": "kip-320",
    "kafka-7128-isr-expansion": "kip-320",
    "kafka-7164-missed-leader-epoch": "kip-320:truncate_when=leader_changed_or_epoch_missed",
    "kafka-7395-unfenced-fetch": "kip-320",
    "kafka-7415-epoch-below-the-first": "kip-279:epoch_cache=kafka-7415",
    "kafka-7415-undefined-epoch": "kip-101:epoch_cache=kafka-7415",
}
# What breaks with the fix as well, for it is nobody's bug: the power took what had not been flushed.
LEFT_OVER = {"kafka-3919-power-outage": ("no-committed-loss", "isr-complete")}
NOBODYS_BUG = {"acks-1-leader-change", "min-insync-replicas-1-power-loss", "unclean-election-loss"}
WENT_BACK = "kafka-2334-high-watermark-goes-back"

MEMORY = 2 * GIBIBYTE
TAKES_LONG = {"kafka-6880-zombie-replica", "kafka-7164-missed-leader-epoch", "kafka-7395-unfenced-fetch"}


def provenance(case: Case) -> dict[str, Any]:
    assert case.provenance is not None
    return case.provenance


def found_in(case: Case) -> Protocol:
    return parse_protocol(provenance(case)["protocol"])


def wanted(case: Case) -> int:
    return properties.named(provenance(case)["property"]).bit


def breaks(case: Case) -> Callable[[state.State], bool]:
    return lambda p: bool(properties.broken_now(p) & wanted(case))


def length_until(reached: Callable[[state.State], bool], case: Case) -> int | None:
    """How many events of the schedule that the case came from are enabled until a state is reached, None for never."""
    origin = provenance(case)
    schedule = Walker([found_in(case)], case.settings, origin["seed"]).schedule(origin["schedule"])
    execution = Execution(found_in(case), case.settings)
    length = 0
    for event in schedule:
        length += execution.apply(event)
        if reached(execution.state):
            return length
    return None


CERTIFIED = [
    pytest.param(case, id=case.id, marks=[pytest.mark.slow] if case.id in TAKES_LONG else [])
    for case in HISTORY.values()
    if provenance(case)["certified_minimal"] and "spares" not in provenance(case)
]
# Another bug is shorter: these are the shortest schedules to break a protocol while those with the fix hold.
HOLDING = [name for name, case in HISTORY.items() if "spares" in provenance(case)]


def test_every_replication_bug_of_kafkas_history_has_a_case() -> None:
    named = {jira for jira in JIRAS for case in HISTORY.values() if case.id.startswith(f"kafka-{jira}-")}
    assert named == JIRAS
    assert set(HISTORY) == {*FIXED_IN, *NOBODYS_BUG, WENT_BACK}


@pytest.mark.parametrize("name", sorted(HISTORY.keys() - NOBODYS_BUG))
def test_the_story_of_a_bug_names_its_jira(name: str) -> None:
    assert "-".join(name.split("-")[:2]).upper() in HISTORY[name].why


@pytest.mark.parametrize("name", FIXED_IN)
def test_a_bug_shows_without_its_fix_and_is_gone_with_it(name: str) -> None:
    case = HISTORY[name]
    assert provenance(case)["property"] in case.expect[found_in(case).name].broken
    assert case.expect[FIXED_IN[name]].broken == LEFT_OVER.get(name, ())


@pytest.mark.parametrize("name", FIXED_IN)
def test_the_newest_generation_has_every_fix(name: str) -> None:
    assert HISTORY[name].expect["kip-320"].broken == LEFT_OVER.get(name, ())


@pytest.mark.parametrize("name", sorted({*FIXED_IN, *NOBODYS_BUG}))
def test_the_random_schedule_that_a_case_came_from_breaks_its_property(name: str) -> None:
    case = HISTORY[name]
    assert length_until(breaks(case), case) == provenance(case)["shrunk_from"]
    assert len(case.events) <= provenance(case)["shrunk_from"]


@pytest.mark.parametrize("case", CERTIFIED)
def test_no_shorter_schedule_breaks_the_property_where_the_case_says_so(case: Case) -> None:
    certificate = certify(case.events, found_in(case), case.settings, wanted(case), MEMORY)
    assert certificate == Reproducer(case.events, True, len(case.events))


@pytest.mark.parametrize("name", HOLDING)
def test_no_shorter_schedule_breaks_the_protocol_and_spares_those_with_the_fix(name: str) -> None:
    case = HISTORY[name]
    holding = [parse_protocol(protocol) for protocol in provenance(case)["spares"]]
    result = explore(found_in(case), case.settings, wanted(case), memory=MEMORY, holding=holding)
    assert result.shortest is not None
    assert len(result.shortest) == len(case.events)
    assert provenance(case)["certified_minimal"]


@pytest.mark.parametrize("name", sorted(NOBODYS_BUG))
@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_loss_that_is_nobodys_bug_is_permitted_or_known_under_every_generation(name: str, generation: str) -> None:
    case = HISTORY[name]
    expected = case.expect[generation]
    assert provenance(case)["property"] in (*expected.broken, *(expected.permitted or ()))
    assert all(known_flaw(parse_protocol(generation), case.settings, broken) for broken in expected.broken)


def test_acks_1_permits_the_loss_of_what_only_the_leader_had() -> None:
    case = HISTORY["acks-1-leader-change"]
    assert {(e.broken, e.permitted) for e in case.expect.values()} == {((), ("no-acked-loss",))}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_high_watermark_that_goes_back_is_a_goal_and_breaks_nothing(generation: str) -> None:
    case = HISTORY[WENT_BACK]
    run = replay(case.events, parse_protocol(generation), case.settings)
    final = run.steps[-1].state
    assert not run.first_broken
    assert final.goals & Goal.HIGH_WATERMARK_WENT_BACK
    assert all(replica["log"] == [["m0", 0]] for replica in observe(final)["replicas"].values())


def test_the_random_schedule_that_took_the_high_watermark_back_is_on_record() -> None:
    case = HISTORY[WENT_BACK]
    length = length_until(lambda p: bool(p.goals & Goal.HIGH_WATERMARK_WENT_BACK), case)
    assert length == provenance(case)["shrunk_from"]
