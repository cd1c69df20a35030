"""The verdict of a run: a consumer must read each acknowledged record at its offset after the run."""

import pytest

pytest.importorskip("confluent_kafka")

from epochfuzz.harness.cluster.broker.clients import UNKNOWN_OFFSET
from epochfuzz.harness.cluster.timeline import ScenarioRun, ScenarioVerdict
from epochfuzz.harness.cluster.view import conclusion
from epochfuzz.harness.documents.cluster_records import Acknowledged, ConsumedRecord, Loss

ACKNOWLEDGED = [Acknowledged("x", 0, 0, 0.0), Acknowledged("m", 0, 1, 0.0), Acknowledged("m", 1, 0, 0.0)]
ALL = [ConsumedRecord("x", 0, 0.0), ConsumedRecord("m", 1, 0.0), ConsumedRecord("m", 0, 0.0, partition=1)]


def verdict_for(left: list[ConsumedRecord], read: list[ConsumedRecord] | None = None) -> ScenarioRun:
    run = ScenarioRun(seconds=12.3)
    run.judge(ACKNOWLEDGED, left, read or [])
    return run


def test_a_run_is_kept_if_every_acknowledged_record_is_at_its_offset() -> None:
    run = verdict_for(ALL)
    assert (run.verdict, run.acknowledged, run.lost) == (ScenarioVerdict.KEPT, 3, [])


def test_an_unacknowledged_record_does_not_change_the_verdict() -> None:
    assert verdict_for([*ALL, ConsumedRecord("n", 2, 0.0)]).verdict is ScenarioVerdict.KEPT


def test_an_acknowledged_record_that_is_missing_is_lost() -> None:
    run = verdict_for(ALL[:1] + ALL[2:])
    assert run.verdict is ScenarioVerdict.LOST
    assert run.lost == [Loss("m", 0, 1, None, was_read=False)]


def test_a_loss_names_another_record_at_the_offset_of_the_acknowledged_record() -> None:
    run = verdict_for([ALL[0], ConsumedRecord("z", 1, 0.0), ALL[2]], read=ALL[:2])
    assert run.lost == [Loss("m", 0, 1, "z", was_read=True)]


def test_a_record_at_the_acknowledged_offset_of_another_partition_does_not_count() -> None:
    assert [loss.partition for loss in verdict_for(ALL[:2]).lost] == [1]


def test_a_record_is_lost_if_its_offset_is_not_the_acknowledged_offset() -> None:
    assert verdict_for([ALL[0], ConsumedRecord("m", 2, 0.0), ALL[2]]).lost == [Loss("m", 0, 1, None, was_read=False)]


def test_a_record_acknowledged_without_an_offset_may_be_anywhere_in_its_partition() -> None:
    run = ScenarioRun()
    run.judge([Acknowledged("x", 0, UNKNOWN_OFFSET, 0.0)], ALL)
    assert run.verdict is ScenarioVerdict.KEPT
    run.judge([Acknowledged("x", 1, UNKNOWN_OFFSET, 0.0)], ALL)
    assert run.verdict is ScenarioVerdict.LOST


def test_the_conclusion_counts_records_and_partitions() -> None:
    assert conclusion(verdict_for(ALL)) == "KEPT: all 3 acknowledged records, in 12 s"
    assert conclusion(verdict_for(ALL[1:])) == "LOST: 1 of 3 acknowledged records, in 12 s"
    assert conclusion(verdict_for([])) == "LOST: 3 of 3 acknowledged records, in 2 partitions, in 12 s"
