"""Known differences: the format of the file, and the differences that it covers."""

from dataclasses import replace
from pathlib import Path

import pytest

from epochfuzz.harness.conform.oracle.known import Known, KnownError, load_known, of_document, reason
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind
from epochfuzz.harness.conform.run.block import FailedTrial, Trial
from epochfuzz.harness.conform.run.drive import ConformanceFailure
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

RECOVERED = Known(field="epochs", after=("restart",), why="the log is read again", protocols=("kafka-2.0.1",))
SENT = parse_schedule(["crash B", "restart B"])
TWO = Configuration()
DIFFERENCE = Discrepancy(DiscrepancyKind.DIFFERENCE, "replicas.B.epochs", [], [[1, 0]])


def why(fault: Discrepancy = DIFFERENCE, sent: bytes = SENT, protocol: str = "kafka-2.0.1") -> str | None:
    return reason([RECOVERED], fault, sent, parse_protocol(protocol), TWO)


def test_a_known_difference_covers_its_field_and_event_under_its_protocol_and_variants() -> None:
    assert why() == why(protocol="kafka-2.0.1:late_answer=same_epoch") == "the log is read again"


def test_a_known_difference_covers_no_other_field_event_protocol_or_kind() -> None:
    assert why(fault=Discrepancy(DiscrepancyKind.DIFFERENCE, "replicas.B.leo", 0, 1)) is None
    assert why(fault=Discrepancy(DiscrepancyKind.DIED, None, "an answer", "it exited")) is None
    assert why(sent=SENT[:1]) is None
    assert why(sent=b"") is None
    assert why(protocol="kafka-2.1.1") is None


def test_a_known_property_covers_only_a_violation_of_this_property() -> None:
    kafka = parse_protocol("kafka-2.0.1")
    skips = Known(field="consumer-no-skip", after=("restart",), why="the library lacks KIP-320")
    assert skips.covers(Discrepancy(DiscrepancyKind.PROMISE, "consumer-no-skip", "holds", "m0"), SENT, kafka, TWO)
    assert not skips.covers(Discrepancy(DiscrepancyKind.PROMISE, "no-reorder", "holds", "m0"), SENT, kafka, TWO)
    anything = replace(skips, field="any")
    assert not anything.covers(Discrepancy(DiscrepancyKind.PROMISE, "no-reorder", "holds", "m0"), SENT, kafka, TWO)


def test_a_failure_that_breaks_a_known_property_is_expected() -> None:
    skips = Known(field="consumer-no-skip", after=("restart",), why="the library lacks KIP-320")
    broken = Discrepancy(DiscrepancyKind.PROMISE, "consumer-no-skip", "holds", "m0")
    failed = FailedTrial(Trial(SENT, TWO, number=0, known=(skips,)), ConformanceFailure(broken, SENT))
    assert failed.known_flaw(parse_protocol("kafka-2.0.1")) == "the library lacks KIP-320"


def test_a_choice_limits_a_known_difference_to_protocols_with_the_choice() -> None:
    same_leader = replace(RECOVERED, choices=("late_answer=same_leader",))
    assert same_leader.covers(DIFFERENCE, SENT, parse_protocol("kafka-2.0.1"), TWO)
    assert not same_leader.covers(DIFFERENCE, SENT, parse_protocol("kafka-2.0.1:late_answer=same_epoch"), TWO)


def test_a_goal_limits_a_known_difference_to_schedules_that_reach_the_goal() -> None:
    after_an_unclean_election = replace(RECOVERED, met=("log truncated",))
    kafka = parse_protocol("kafka-2.0.1")
    assert not after_an_unclean_election.covers(DIFFERENCE, SENT, kafka, TWO)
    followed = parse_schedule([
        "produce A", "expire B", "elect A", "notify B", "fetch B", "receive B", "fetch B", "receive B",
    ])  # fmt: skip
    assert Execution(kafka, TWO, followed).state.goals & Goal.LOG_TRUNCATED == 0
    assert not after_an_unclean_election.covers(DIFFERENCE, followed + SENT, kafka, TWO)
    lost = parse_schedule(["produce B", "elect B", "produce A", "notify B", "notify A", "fetch A", "receive A"])
    assert Execution(kafka, TWO, lost).state.goals & Goal.LOG_TRUNCATED
    assert after_an_unclean_election.covers(DIFFERENCE, lost + SENT, kafka, TWO)


def test_a_known_difference_of_any_field_does_not_cover_an_exit_of_the_adapter() -> None:
    anything = replace(RECOVERED, field="any")
    kafka = parse_protocol("kafka-2.0.1")
    assert anything.covers(DIFFERENCE, SENT, kafka, TWO)
    assert anything.covers(Discrepancy(DiscrepancyKind.DIFFERENCE, "applied", False, True), SENT, kafka, TWO)
    assert not anything.covers(Discrepancy(DiscrepancyKind.DIED, None, "an answer", "it exited"), SENT, kafka, TWO)


def test_a_known_exit_of_the_adapter_covers_only_exits_with_its_output() -> None:
    dies = Known(field="died", after=("restart",), why="a thread ends", output="Offset mismatch")
    died = Discrepancy(DiscrepancyKind.DIED, None, "an answer", "it exited", "Offset mismatch for partition t-0")
    kafka = parse_protocol("kafka-2.0.1")
    assert dies.covers(died, SENT, kafka, TWO)
    assert not dies.covers(replace(died, output="out of memory"), SENT, kafka, TWO)
    assert not dies.covers(replace(DIFFERENCE, field="replicas.B.died"), SENT, kafka, TWO)
    assert of_document(dies.document()) == dies


def test_load_known_ignores_further_keys_of_an_entry(tmp_path: Path) -> None:
    file = tmp_path / "known.yaml"
    file.write_text("- {field: hw, after: [receive], why: so it is, schedule: [fetch B, receive B]}\n")
    assert load_known(file) == (Known(field="hw", after=("receive",), why="so it is"),)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "- 7",
        "- {field: hw, why: x}",
        "- {field: hw, after: [jump], why: x}",
        "- {after: [fetch], why: x}",
        "- [",
        "- {field: died, after: [fetch], why: x}",
        "- {field: hw, after: [fetch], why: x, output: y}",
        "- {field: hw, after: [fetch], why: x, choices: [late_answer=never]}",
        "- {field: hw, after: [fetch], why: x, choices: [late_answer]}",
        "- {field: hw, after: [fetch], why: x, met: [log cut in two]}",
    ],
)
def test_load_known_rejects_invalid_files(text: str, tmp_path: Path) -> None:
    file = tmp_path / "known.yaml"
    file.write_text(text)
    with pytest.raises(KnownError):
        load_known(file)
