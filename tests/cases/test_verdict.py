"""Verdicts: whether a replay meets the expectations of a case, and the messages about differences."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.case import Case, CheckedState, Expectation, load_case
from epochfuzz.harness.cases.verdict import judge, rewritten
from epochfuzz.model.kafka.contract.properties import BY_NAME
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import ProtocolError

# The shortest loss under hw: isr-complete breaks after event 8, no-committed-loss and no-acked-loss after event 9.
SHORTEST_LOSS = Case(
    id="shortest-loss",
    why="B truncates m0, which A has committed, and is elected.",
    settings=Configuration(),
    events=parse_schedule(
        ["produce A", "fetch B", "receive B", "fetch B", "crash B", "restart B", "elect B", "notify B", "notify B"]
    ),
)
ALL_BROKEN = ("no-committed-loss", "no-acked-loss", "isr-complete")
UNANSWERED = replace(SHORTEST_LOSS, settings=Configuration(acks="1"))


def mismatches(expected: Expectation, case: Case = SHORTEST_LOSS) -> tuple[str, ...]:
    return judge(replace(case, expect={"hw": expected})).verdicts["hw"].mismatches


def state_mismatches(after: int, observation: dict[str, Any]) -> tuple[str, ...]:
    state = CheckedState(after, "hw", observation)
    return judge(replace(SHORTEST_LOSS, states=(state,))).verdicts["hw"].mismatches


@pytest.mark.parametrize(
    "expected",
    [
        Expectation(ALL_BROKEN, at=9),
        Expectation(("no-committed-loss",)),
        Expectation(("no-committed-loss",), at=9),
        Expectation(("isr-complete",), at=8),
        Expectation(ALL_BROKEN, permitted=()),
    ],
)
def test_a_broken_property_that_the_case_does_not_name_is_not_a_mismatch(expected: Expectation) -> None:
    assert mismatches(expected) == ()


def test_a_named_property_that_holds_is_a_mismatch() -> None:
    assert mismatches(Expectation(("no-committed-loss", "no-divergence"))) == (
        "no-divergence was expected to break, but held",
    )


@pytest.mark.parametrize(("name", "expected", "came"), [("no-committed-loss", 8, 9), ("isr-complete", 9, 8)])
def test_a_property_that_breaks_earlier_or_later_than_expected_is_a_mismatch(
    name: str, expected: int, came: int
) -> None:
    (mismatch,) = mismatches(Expectation((name,), at=expected))
    assert mismatch == (
        f"the first break was expected after event {expected} (notify B), but came after event {came} (notify B)"
    )


@pytest.mark.parametrize(("broken", "at"), [(("isr-complete",), 8), (ALL_BROKEN, 9), ((), 9), (("no-divergence",), 9)])
def test_a_verdict_gives_the_event_that_breaks_the_expected_properties(broken: tuple[str, ...], at: int) -> None:
    assert judge(replace(SHORTEST_LOSS, expect={"hw": Expectation(broken)})).verdicts["hw"].at == at


def test_an_empty_expectation_requires_that_no_property_breaks() -> None:
    assert mismatches(Expectation(())) == (
        "nothing was expected to break, but no-committed-loss broke after event 9 (notify B)",
        "nothing was expected to break, but no-acked-loss broke after event 9 (notify B)",
        "nothing was expected to break, but isr-complete broke after event 8 (notify B)",
    )


def test_a_permitted_loss_does_not_count_as_a_broken_property() -> None:
    (mismatch,) = mismatches(Expectation(("no-acked-loss",)), UNANSWERED)
    assert mismatch == "no-acked-loss was expected to break, but is only permitted to"


def test_a_case_that_lists_permitted_violations_must_list_all_of_them() -> None:
    assert mismatches(Expectation(("no-committed-loss",), permitted=("no-acked-loss",)), UNANSWERED) == ()
    (mismatch,) = mismatches(Expectation(("no-committed-loss",), permitted=()), UNANSWERED)
    assert mismatch == "the permitted violations should be [], but are [no-acked-loss]"


def test_a_checked_state_compares_only_the_fields_that_it_lists() -> None:
    assert state_mismatches(4, {"replicas": {"A": {"hw": 1}, "B": {"hw": 0, "log": [["m0", 0]]}}}) == ()


def test_the_mismatch_of_a_checked_state_names_the_event_the_replica_and_the_field() -> None:
    assert state_mismatches(3, {"replicas": {"B": {"log": [["m1", 2]], "leo": 1, "hw": 1}}}) == (
        "after event 3 (receive B), log of B was expected to be [m1@2], but is [m0@0]",
        "after event 3 (receive B), hw of B was expected to be 1, but is 0",
    )


def test_a_checked_state_after_event_0_is_the_initial_state() -> None:
    assert state_mismatches(0, {"controller": {"leader": "B", "isr": ["A", "B"]}}) == (
        "at the start, leader of controller was expected to be B, but is A",
    )


def test_a_protocol_without_expectation_has_a_verdict_and_no_mismatch() -> None:
    judged = judge(SHORTEST_LOSS, ["hw", "kip-320:fencing=none"])
    assert judged.as_expected
    assert tuple(judged.verdicts["hw"].run.broken) == ALL_BROKEN
    assert judged.verdicts["kip-320:fencing=none"].run.broken == []


def test_judge_checks_the_protocols_of_the_case_unless_the_caller_names_others() -> None:
    case = replace(
        SHORTEST_LOSS,
        expect={"hw": Expectation(ALL_BROKEN)},
        states=(CheckedState(0, "kip-101", {"controller": {"epoch": 0}}),),
        provenance={"fingerprint": {"kip-320": "0" * 16}},
    )
    assert list(judge(case).verdicts) == ["hw", "kip-101", "kip-320"]
    assert list(judge(case, ["kip-279"]).verdicts) == ["kip-279"]


def test_an_unknown_protocol_is_an_error() -> None:
    with pytest.raises(ProtocolError, match="unknown protocol"):
        judge(SHORTEST_LOSS, ["kip-102"])


def test_a_different_fingerprint_is_a_drift_and_not_a_mismatch() -> None:
    fingerprint = judge(SHORTEST_LOSS, ["hw"]).verdicts["hw"].run.fingerprint
    same = judge(replace(SHORTEST_LOSS, provenance={"fingerprint": {"hw": fingerprint}}))
    assert same.as_expected
    assert not same.drifted
    other = judge(replace(SHORTEST_LOSS, provenance={"fingerprint": {"hw": "0" * 16}}))
    assert other.drifted
    assert not other.as_expected
    assert other.verdicts["hw"].mismatches == ()
    assert other.verdicts["hw"].drift == f"the run's fingerprint is {fingerprint}, but {'0' * 16} was recorded"


def test_a_mismatch_with_an_unchanged_fingerprint_is_not_a_drift() -> None:
    judged = judge(replace(SHORTEST_LOSS, expect={"hw": Expectation(())}))
    assert not judged.as_expected
    assert not judged.drifted


def test_a_rewritten_case_has_the_results_of_replay() -> None:
    case = replace(
        UNANSWERED,
        expect={"hw": Expectation(("no-divergence",), at=1), "kip-101": Expectation(("convergence",), permitted=())},
        states=(CheckedState(4, "hw", {"replicas": {"A": {"hw": 5, "log": []}}, "controller": {"leader": None}}),),
        provenance={"seed": 7, "fingerprint": {"hw": "0" * 16}},
    )
    after = rewritten(case)
    assert after.expect == {
        "hw": Expectation(("no-committed-loss", "isr-complete"), at=9, permitted=("no-acked-loss",)),
        "kip-101": Expectation((), permitted=()),
    }
    assert after.states == (
        CheckedState(4, "hw", {"replicas": {"A": {"hw": 1, "log": [["m0", 0]]}}, "controller": {"leader": "A"}}),
    )
    assert after.provenance == {"seed": 7, "fingerprint": {"hw": judge(case).verdicts["hw"].run.fingerprint}}
    assert judge(after).as_expected
    assert rewritten(after) == after


def test_at_is_the_first_event_that_breaks_a_property_other_than_a_warning() -> None:
    case = load_case(Path(__file__).parents[2] / "corpus" / "documents" / "m1-loss.yaml")
    verdict = judge(case, ["hw"]).verdicts["hw"]
    first_broken = verdict.run.first_broken
    warnings = {name for name in first_broken if BY_NAME[name].is_warning}
    assert (
        first_broken["isr-complete"] < verdict.at == min(first_broken[name] for name in first_broken.keys() - warnings)
    )
