"""Kafka's history: epochfuzz finds each replication bug without its fix, and not with the fix."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.engine.explore.certificates import Reproducer, certify
from epochfuzz.harness.engine.explore.explore import GIBIBYTE, explore
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.trace.causes import reason
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.vocabulary import state
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.mechanisms import IsrChange, Leaderless, Truncation
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, NAMED, RELEASES, Protocol, parse_protocol

HISTORY = {case.id: case for case in load_corpus([Path(__file__).parents[2] / "corpus" / "history"])}

JIRAS = {
    *("1211", "2334", "3919", "6082", "6361", "6880", "7128", "7164", "7235", "7395", "7414", "7415", "7786", "10706"),
    *("12686", "13091", "13141", "13207", "14144", "14154", "14704", "15221", "18991"),
}
KIPS = {"497", "841", "903", "966"}
NEWEST = "kip-966"

# For each case a protocol with the fix. The protocol that the case was found in lacks the fix.
FIXED_IN = {
    "high-watermark-above-the-log": "kafka-2.6.0",
    "kafka-10706-divergence-without-end": "kip-595",
    "kafka-10706-truncation-without-end": "kafka-2.6.1",
    "kafka-12686-proposal-never-sent": "kafka-3.0",
    "kafka-13091-high-watermark-left-behind": "kafka-3.1",
    "kafka-13141-diverging-fetch-counted": "kafka-2.8.1",
    "kafka-13207-diverging-answer-to-a-leader": "kip-595:late_answer=same_leader",
    "kafka-14144-duplicate-refused": "kip-595",
    "kafka-14154-refused-by-a-former-controller": "kip-841",
    "kafka-14704-high-watermark-before-the-cut": "kafka-3.4.1",
    "kafka-15221-broker-epoch-read-late": "kafka-3.7",
    "kafka-18991-answer-of-an-earlier-epoch": "kip-595",
    "kafka-1211-truncation-to-high-watermark": "kip-101",
    "kafka-3919-power-outage": "kip-101",
    "kafka-6082-two-controllers": "kip-320",
    "kafka-6361-fast-leader-fail-over": "kip-279",
    "kafka-6880-zombie-replica": "kip-320",
    "kafka-7128-isr-expansion": "kip-320",
    "kafka-7164-answer-of-a-missed-epoch": "kafka-2.0.1",
    "kafka-7164-missed-leader-epoch": "kip-320:truncate_when=leader_changed_or_epoch_missed",
    "kafka-7235-bounced-broker": "kafka-2.3",
    "kafka-7395-unfenced-epoch-request": "kafka-2.0.1:fencing=epoch",
    "kafka-7395-unfenced-fetch": "kip-320",
    "kafka-7415-epoch-below-the-first": "kip-279:epoch_cache=kafka-7415",
    "kafka-7415-undefined-epoch": "kip-101:epoch_cache=kafka-7415",
    "kafka-7786-epoch-end-of-an-earlier-epoch": "kip-320",
    "kip-497-expansion-counted-late": "kip-497",
    "kip-497-partition-epoch-unchecked": "kip-497",
    "kip-497-shrink-counted-early": "kip-497",
    "kip-841-dead-replica-joins": "kip-841",
    "kip-903-former-incarnation-joins": "kip-903",
    "kip-966-eligible-without-gate": "kip-966",
    "kip-966-gate-missing": "kafka-3.7",
    "kip-966-last-member-returns-empty": "kafka-4.1",
    "kip-966-member-kept-above-min": "kip-966",
    "kip-966-unclean-member-kept": "kip-966",
    "re-elected-leader": "kip-320",
    "re-elected-leader-after-a-crash": "kip-320",
    "re-elected-leader-in-kraft": "kip-966",
    "reverted-expansion": "kip-966",
}
# Properties that break with the fix as well, without a bug: a power failure lost records that had not been flushed, or
# an unclean election was allowed.
LEFT_OVER = {
    "high-watermark-above-the-log": ("no-committed-loss", "no-acked-loss"),
    "kafka-3919-power-outage": ("no-committed-loss", "isr-complete"),
}
WITHOUT_BUG = {
    "acks-1-leader-change",
    "min-insync-replicas-1-power-loss",
    "not-enough-replicas-after-append",
    "unclean-election-loss",
}
# The protocols in which a leader changes the ISR without a request, so `shrink` is enough.
BY_WRITE = {name for name, each in NAMED.items() if each.choice("isr_change") == IsrChange.ATOMIC}
# Bugs without a JIRA issue that we know of.
WITHOUT_JIRA = {
    "high-watermark-above-the-log",
    "re-elected-leader",
    "re-elected-leader-after-a-crash",
    "re-elected-leader-in-kraft",
    "reverted-expansion",
}
WITHOUT_END = {
    "kafka-10706-divergence-without-end",
    "kafka-10706-truncation-without-end",
    "kafka-7164-answer-of-a-missed-epoch",
}
WENT_BACK = "kafka-2334-high-watermark-goes-back"
HALTS = "kafka-7414-out-of-range-halts"
# Behaviour that no property forbids and a goal counts.
GOALS = {WENT_BACK: Goal.HIGH_WATERMARK_WENT_BACK, HALTS: Goal.HALTED_OUT_OF_RANGE}

MEMORY = 2 * GIBIBYTE
TAKES_LONG = {
    "kafka-18991-answer-of-an-earlier-epoch",
    "kafka-6880-zombie-replica",
    "kafka-7164-missed-leader-epoch",
    "kip-841-dead-replica-joins",
    "kip-966-last-member-returns-empty",
    "kip-966-unclean-member-kept",
    "re-elected-leader",
    "re-elected-leader-after-a-crash",
}


def provenance(case: Case) -> dict[str, Any]:
    assert case.provenance is not None
    return case.provenance


def found_in(case: Case) -> Protocol:
    return parse_protocol(provenance(case)["protocol"])


def wanted(case: Case) -> int:
    return properties.named(provenance(case)["property"]).bit


def breaks(case: Case) -> Callable[[state.State], bool]:
    """Check the state alone. Not for `convergence`, which is checked after all faults have stopped."""
    return lambda p: bool(properties.broken_now(p) & wanted(case))


def run_of_origin(case: Case) -> Iterator[Execution]:
    """Yield the run of the schedule that the case came from, after each enabled event."""
    origin = provenance(case)
    schedule = Walker([found_in(case)], case.settings, origin["seed"]).schedule(origin["schedule"])
    execution = Execution(found_in(case), case.settings)
    for event in schedule:
        if execution.apply(event):
            yield execution


def length_until(reached: Callable[[state.State], bool], case: Case) -> int | None:
    """Return the number of enabled events up to a state in the schedule of a case, or None without such a state."""
    return next((length for length, run in enumerate(run_of_origin(case), 1) if reached(run.state)), None)


CERTIFIED = [
    pytest.param(case, id=case.id, marks=[pytest.mark.slow] if case.id in TAKES_LONG else [])
    for case in HISTORY.values()
    if provenance(case)["certified_minimal"] and "spares" not in provenance(case)
]
# Another bug has a shorter schedule. These are the shortest schedules under which protocols with the fix hold.
HOLDING = [name for name, case in HISTORY.items() if "spares" in provenance(case)]


def test_every_replication_bug_of_kafkas_history_has_a_case() -> None:
    named = {jira for jira in JIRAS for case in HISTORY.values() if case.id.startswith(f"kafka-{jira}-")}
    assert named == JIRAS
    assert {kip for kip in KIPS for case in HISTORY.values() if case.id.startswith(f"kip-{kip}-")} == KIPS
    assert set(HISTORY) == {*FIXED_IN, *WITHOUT_BUG, *GOALS}


@pytest.mark.parametrize("name", sorted(HISTORY.keys() - WITHOUT_BUG - WITHOUT_JIRA))
def test_the_description_of_a_bug_names_its_jira_issue_or_kip(name: str) -> None:
    assert "-".join(name.split("-")[:2]).upper() in HISTORY[name].why


@pytest.mark.parametrize("name", FIXED_IN)
def test_a_bug_breaks_its_property_without_the_fix_but_not_with_the_fix(name: str) -> None:
    case = HISTORY[name]
    assert provenance(case)["property"] in case.expect[found_in(case).name].broken
    assert case.expect[FIXED_IN[name]].broken == LEFT_OVER.get(name, ())


@pytest.mark.parametrize("name", FIXED_IN)
def test_the_newest_reference_design_has_every_fix(name: str) -> None:
    assert HISTORY[name].expect[NEWEST].broken == ()


@pytest.mark.parametrize("name", sorted({*FIXED_IN, *WITHOUT_BUG} - WITHOUT_END))
def test_the_random_schedule_that_a_case_came_from_breaks_its_property(name: str) -> None:
    case = HISTORY[name]
    assert length_until(breaks(case), case) == provenance(case)["shrunk_from"]
    assert len(case.events) <= provenance(case)["shrunk_from"]


# Joint searches that take ten seconds or more.
SEARCHED_LONG = {"kafka-6361-fast-leader-fail-over", "kafka-7415-undefined-epoch"}


@pytest.mark.thorough
@pytest.mark.parametrize("case", CERTIFIED)
def test_no_schedule_is_shorter_than_a_case_that_claims_to_be_shortest(case: Case) -> None:
    certificate = certify(case.events, found_in(case), case.settings, wanted(case), MEMORY)
    assert certificate == Reproducer(case.events, True, len(case.events))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SEARCHED_LONG else []) for name in HOLDING]
)
def test_no_shorter_schedule_breaks_the_protocol_and_holds_under_protocols_with_the_fix(name: str) -> None:
    case = HISTORY[name]
    holding = [parse_protocol(protocol) for protocol in provenance(case)["spares"]]
    result = explore(found_in(case), case.settings, wanted(case), memory=MEMORY, holding=holding)
    assert result.shortest is not None
    assert len(result.shortest) == len(case.events)
    assert provenance(case)["certified_minimal"]


@pytest.mark.parametrize("name", sorted(WITHOUT_BUG))
@pytest.mark.parametrize("generation", [name for name in GENERATIONS if name in BY_WRITE])
def test_a_loss_without_a_bug_is_permitted_or_explained_under_every_reference_design(
    name: str, generation: str
) -> None:
    case = HISTORY[name]
    expected = case.expect[generation]
    assert provenance(case)["property"] in (*expected.broken, *(expected.permitted or ()))
    protocol = parse_protocol(generation)
    assert all(reason(case.events, protocol, case.settings, broken) for broken in expected.broken)


def test_acks_1_permits_the_loss_of_a_record_that_only_the_leader_had() -> None:
    case = HISTORY["acks-1-leader-change"]
    assert {(e.broken, e.permitted) for e in case.expect.values()} == {((), ("no-acked-loss",))}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_high_watermark_that_goes_back_meets_a_goal_and_breaks_no_property(generation: str) -> None:
    case = HISTORY[WENT_BACK]
    run = replay(case.events, parse_protocol(generation), case.settings)
    final = run.steps[-1].state
    assert not run.first_broken
    assert final.goals & Goal.HIGH_WATERMARK_WENT_BACK
    assert all(replica["log"] == [["m0", 0]] for replica in observe(final)["replicas"].values())


@pytest.mark.parametrize("name", GOALS)
def test_the_recorded_random_schedule_of_a_case_meets_its_goal(name: str) -> None:
    case = HISTORY[name]
    assert length_until(lambda p: bool(p.goals & GOALS[name]), case) == provenance(case)["shrunk_from"]


@pytest.mark.parametrize(("protocol", "halts"), [("kafka-2.0.0", True), ("kafka-2.0.1", False), ("kafka-2.3", False)])
def test_a_follower_out_of_range_halts_until_kafka_7414(protocol: str, halts: bool) -> None:
    case = HISTORY[HALTS]
    final = replay(case.events, parse_protocol(protocol), case.settings).steps[-1].state
    assert bool(final.goals & Goal.HALTED_OUT_OF_RANGE) == halts
    assert bool(final.up[1]) != halts


@pytest.mark.parametrize("name", sorted(WITHOUT_END))
def test_the_recorded_random_schedule_of_an_endless_case_breaks_a_property_at_its_end(name: str) -> None:
    case = HISTORY[name]
    *_, final = enumerate(run_of_origin(case), 1)
    length, execution = final
    assert length == provenance(case)["shrunk_from"]
    assert execution.broken_at_end()


# KAFKA-18991: a response to a fetch of an earlier epoch counts.
ANSWERS_OF_AN_EARLIER_EPOCH = {
    name for name, each in RELEASES.items() if each.choice("truncation") == Truncation.ON_FETCH
} - {"kafka-3.9.1", "kafka-4.1"}
AFFECTED_RELEASES = {
    "high-watermark-above-the-log": {
        "kafka-0.10.2",
        "kafka-2.0.1",
        "kafka-2.1.0",
        "kafka-2.1.1",
        "kafka-2.2",
        "kafka-2.3",
    },
    "kafka-10706-truncation-without-end": {
        "kafka-2.0.1",
        "kafka-2.1.0",
        "kafka-2.1.1",
        "kafka-2.2",
        "kafka-2.3",
        "kafka-2.4",
        "kafka-2.6.0",
    },
    "kafka-12686-proposal-never-sent": {"kafka-2.7", "kafka-2.8.0", "kafka-2.8.1"},
    "kafka-13091-high-watermark-left-behind": {"kafka-2.7", "kafka-2.8.0", "kafka-2.8.1", "kafka-3.0"},
    "kafka-13141-diverging-fetch-counted": {"kafka-2.8.0"},
    "kafka-13207-diverging-answer-to-a-leader": {"kafka-2.8.0"},
    "kafka-14704-high-watermark-before-the-cut": {
        "kafka-2.8.0",
        "kafka-2.8.1",
        "kafka-3.0",
        "kafka-3.1",
        "kafka-3.2.1",
        "kafka-3.3",
    },
    "kafka-18991-answer-of-an-earlier-epoch": ANSWERS_OF_AN_EARLIER_EPOCH,
    "kafka-7164-answer-of-a-missed-epoch": {"kafka-0.10.2", "kafka-1.1", "kafka-2.0.0"},
    "kafka-7235-bounced-broker": {
        "kafka-0.10.2",
        "kafka-1.1",
        "kafka-2.0.0",
        "kafka-2.0.1",
        "kafka-2.1.0",
        "kafka-2.1.1",
    },
    "kafka-7395-unfenced-epoch-request": {"kafka-2.0.1"},
    "kafka-7786-epoch-end-of-an-earlier-epoch": {"kafka-2.0.1", "kafka-2.1.0"} | ANSWERS_OF_AN_EARLIER_EPOCH,
    "re-elected-leader": set(RELEASES),
    "re-elected-leader-after-a-crash": {
        name for name, each in RELEASES.items() if each.choice("leaderless") == Leaderless.IGNORED
    },
    "re-elected-leader-in-kraft": set(RELEASES),
    "reverted-expansion": {"kafka-3.6", "kafka-3.7", "kafka-3.9.1", "kafka-4.1"},
}


@pytest.mark.parametrize("name", AFFECTED_RELEASES)
def test_a_case_breaks_its_property_in_exactly_the_affected_releases(name: str) -> None:
    case = HISTORY[name]
    runs = {release: replay(case.events, RELEASES[release], case.settings) for release in RELEASES}
    broken = {release for release, run in runs.items() if provenance(case)["property"] in run.broken}
    assert broken == AFFECTED_RELEASES[name]


EVENTS = {
    "high-watermark-above-the-log": (
        "produce A, shrink B, crash A, elect B, restart A, notify A, notify B, fetch A, receive A"
    ),
    "kafka-10706-truncation-without-end": "produce A, elect B, notify B, produce B, elect A, elect B",
    "kafka-7164-answer-of-a-missed-epoch": (
        "produce A, fetch B, elect C, notify A, notify C, fetch A, receive A, elect A, notify A, produce A, catch_up B,"
        " receive B, fetch B"
    ),
    "kafka-7235-bounced-broker": "produce A, fetch B, receive B, fetch B, power_loss A, restart A, notify A",
    "kafka-7395-unfenced-epoch-request": (
        "produce A, fetch B, receive B, fetch B, elect B, notify B, receive B, elect A, notify B, fetch B, receive B,"
        " elect B, notify B"
    ),
    "kafka-7414-out-of-range-halts": (
        "produce A, fetch B, receive B, power_loss A, restart A, notify A, fetch B, receive B"
    ),
    "not-enough-replicas-after-append": "produce A, shrink B, power_loss A, restart A, elect A, notify A",
    "re-elected-leader": (
        "produce A, fetch B, receive B, fetch B, elect C, notify B, notify C, fetch B, receive B, expire C, elect A,"
        " catch_up A, elect B, catch_up B"
    ),
    "re-elected-leader-after-a-crash": (
        "produce A, fetch B, receive B, fetch B, elect C, notify B, notify C, fetch B, receive B, crash C, elect A,"
        " catch_up A, elect B, catch_up B"
    ),
}


@pytest.mark.parametrize("name", EVENTS)
def test_a_case_has_the_schedule_of_its_description(name: str) -> None:
    assert ", ".join(schedule_texts(HISTORY[name].events)) == EVENTS[name]


def test_a_re_elected_leader_has_an_incomplete_isr_before_a_record_is_lost() -> None:
    case = HISTORY["re-elected-leader"]
    first_broken = replay(case.events, RELEASES["kafka-2.6.1"], case.settings).first_broken
    assert first_broken == {"isr-complete": 12, "no-committed-loss": 14, "no-acked-loss": 14}


@pytest.mark.parametrize("protocol", sorted(BY_WRITE))
def test_a_record_is_exposed_but_not_acknowledged_if_the_isr_fell_below_the_minimum(protocol: str) -> None:
    case = HISTORY["not-enough-replicas-after-append"]
    run = replay(case.events, parse_protocol(protocol), case.settings)
    assert (run.steps[1].state.exposed, run.steps[1].state.acked) == (1, 0)
    assert run.steps[1].state.goals & Goal.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    assert run.broken == ["no-committed-loss"]
