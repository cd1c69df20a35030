"""A run is judged by what a consumer reads that comes afterwards: what was acknowledged is at its offset."""

import pytest

pytest.importorskip("confluent_kafka")

from epochfuzz.harness.cluster.broker.clients import UNKNOWN_OFFSET
from epochfuzz.harness.cluster.timeline import ScenarioRun, ScenarioVerdict
from epochfuzz.harness.cluster.view import conclusion
from epochfuzz.harness.documents.cluster_records import Acknowledged, ConsumedRecord, Loss

ACKNOWLEDGED = [Acknowledged("x", 0, 0, 0.0), Acknowledged("m", 0, 1, 0.0), Acknowledged("m", 1, 0, 0.0)]
ALL = [ConsumedRecord("x", 0, 0.0), ConsumedRecord("m", 1, 0.0), ConsumedRecord("m", 0, 0.0, partition=1)]


def judged(left: list[ConsumedRecord], read: list[ConsumedRecord] | None = None) -> ScenarioRun:
    run = ScenarioRun(seconds=12.3)
    run.judge(ACKNOWLEDGED, left, read or [])
    return run


def test_all_that_was_acknowledged_is_kept() -> None:
    run = judged(ALL)
    assert (run.verdict, run.acknowledged, run.lost) == (ScenarioVerdict.KEPT, 3, [])


def test_what_was_never_acknowledged_may_be_there_too() -> None:
    assert judged([*ALL, ConsumedRecord("n", 2, 0.0)]).verdict is ScenarioVerdict.KEPT


def test_a_record_that_nobody_reads_any_more_is_lost() -> None:
    run = judged(ALL[:1] + ALL[2:])
    assert run.verdict is ScenarioVerdict.LOST
    assert run.lost == [Loss("m", 0, 1, None, was_read=False)]


def test_another_record_at_its_offset_is_a_loss_and_named() -> None:
    run = judged([ALL[0], ConsumedRecord("z", 1, 0.0), ALL[2]], read=ALL[:2])
    assert run.lost == [Loss("m", 0, 1, "z", was_read=True)]


def test_a_record_at_its_offset_of_another_partition_does_not_count() -> None:
    assert [loss.partition for loss in judged(ALL[:2]).lost] == [1]


def test_a_record_at_another_offset_is_lost_where_it_was_promised() -> None:
    assert judged([ALL[0], ConsumedRecord("m", 2, 0.0), ALL[2]]).lost == [Loss("m", 0, 1, None, was_read=False)]


def test_a_record_whose_offset_the_producer_was_not_told_has_to_be_somewhere_in_its_partition() -> None:
    run = ScenarioRun()
    run.judge([Acknowledged("x", 0, UNKNOWN_OFFSET, 0.0)], ALL)
    assert run.verdict is ScenarioVerdict.KEPT
    run.judge([Acknowledged("x", 1, UNKNOWN_OFFSET, 0.0)], ALL)
    assert run.verdict is ScenarioVerdict.LOST


def test_the_conclusion_counts_records_and_partitions() -> None:
    assert conclusion(judged(ALL)) == "KEPT: all 3 acknowledged records, in 12 s"
    assert conclusion(judged(ALL[1:])) == "LOST: 1 of 3 acknowledged records, in 12 s"
    assert conclusion(judged([])) == "LOST: 3 of 3 acknowledged records, in 2 partitions, in 12 s"
