"""A search of the survey continues on Spark when it has used its time."""

from pathlib import Path

from epochfuzz.harness.lab.survey_search import Budget, SearchEnd, search
from epochfuzz.model.kafka.contract.properties import BY_NAME
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import NAMED

SMALL = Configuration(records=2, epochs=2)
ISR_COMPLETE = BY_NAME["isr-complete"].bit


def test_spark_finds_a_shortest_schedule_when_the_time_is_used(tmp_path: Path) -> None:
    budget = Budget(1 << 30, seconds=0, spark=tmp_path)
    (in_memory,) = search(NAMED["hw"], SMALL, {ISR_COMPLETE: 9}, Budget(1 << 30)).values()
    (on_spark,) = search(NAMED["hw"], SMALL, {ISR_COMPLETE: 9}, budget).values()
    assert on_spark == in_memory
    assert on_spark.shortest is not None
    assert [each.name for each in tmp_path.iterdir()] == ["hw-isr-complete-2-2-2-9"]
    assert list(search(NAMED["hw"], SMALL, {ISR_COMPLETE: 9}, budget).values()) == [on_spark]


def test_spark_proves_that_no_shorter_schedule_exists_when_the_time_is_used(tmp_path: Path) -> None:
    budget = Budget(1 << 30, seconds=0, spark=tmp_path)
    assert search(NAMED["hw"], SMALL, {ISR_COMPLETE: 6}, budget) == {ISR_COMPLETE: SearchEnd(None, 6)}
