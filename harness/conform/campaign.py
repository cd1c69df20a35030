"""A campaign of conformance: Spark's workers run the command, and what comes of each block is kept in a directory.

The directory holds what was asked for (plan), a row for each finished block (blocks), how long they took (waves), and
what was shrunk (findings). Blocks are run in waves, each written when it is done: a driver that is killed loses the one
under way, and the same run over the same directory goes on from there.
"""

import json
import time
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from epochfuzz.harness.campaign import waves
from epochfuzz.harness.campaign.directory import Directory
from epochfuzz.harness.campaign.errors import CampaignError
from epochfuzz.harness.campaign.pace import Pace
from epochfuzz.harness.campaign.workers import Workers
from epochfuzz.harness.conform import rows, tasks
from epochfuzz.harness.conform.block import BlockResult, Failed
from epochfuzz.harness.conform.nonconformity import Nonconformity
from epochfuzz.harness.conform.plan import Plan
from epochfuzz.harness.search.compilation import model_digest
from epochfuzz.model.protocols import Protocol

PLAN = pa.schema({"plan": pa.string()})  # JSON: what was asked for, and the digest of the model

_MANY = 10_000  # more numbers than there are cores


class Campaign:
    """The crew of a Spark session, which works for one plan and keeps its results. Raises CampaignError.

    Waves are run one after another and each begins where the last one ended, so the finished blocks of a protocol are
    the first ones, without a gap.
    """

    def __init__(self, spark: SparkSession, uri: str, plan: Plan) -> None:
        self.seconds = 0.0
        self._spark = spark
        self._directory = Directory(spark, uri)
        self._workers = Workers(spark)
        self._cores = spark.range(_MANY).select(F.spark_partition_id()).distinct().count()
        self._begin_or_go_on(plan.document() | {"model": model_digest()})

    def results(self, plan: Plan, protocol: Protocol) -> Generator[BlockResult]:
        """What comes of the plan's blocks under a protocol, in order: those that are finished, then the others."""
        first = 0
        for row in self._finished(protocol):
            first = row["number"] + 1
            yield rows.block_result(row, plan)
        pace = Pace(self._cores)
        started = time.monotonic()
        while size := pace.wave(time.monotonic() - started, blocks_left=plan.blocks - first, seconds_left=None):
            for row in self._wave(plan, protocol, first, size, pace.tasks(size)):
                yield rows.block_result(row, plan)
            pace.done(size)
            first += size

    def nonconformities(
        self, plan: Plan, protocol: Protocol, failed: Sequence[tuple[Failed, int]]
    ) -> Iterator[Nonconformity]:
        """A nonconformity for each of the failed trials, shrunk by a task each; or those that were shrunk before."""
        table = f"findings/protocol={plan.protocols.index(protocol)}"
        if self._directory.read(table, rows.NONCONFORMITIES) is None:
            argument = {"failed": [(rows.failed_row(one), seen) for one, seen in failed]}
            numbers = self._spark.range(0, len(failed), 1, max(1, len(failed)))
            shrunk = self._run(numbers, tasks.SHRINK_SIGHTINGS, plan, protocol, rows.NONCONFORMITIES, argument)
            self._directory.write_rows(shrunk.toArrow().to_pylist(), rows.NONCONFORMITIES, table)
        for row in self._directory.read_rows(table, rows.NONCONFORMITIES):
            yield rows.nonconformity(row, plan)

    def _begin_or_go_on(self, asked: dict[str, Any]) -> None:
        begun = self._directory.read_rows("plan", PLAN)
        if not begun:
            self._directory.write_rows([{"plan": json.dumps(asked)}], PLAN, "plan")
            return
        kept = json.loads(begun[0]["plan"])
        other = [key for key in asked if kept.get(key) != asked[key]]
        if other:
            raise CampaignError(
                f"{self._directory.uri} holds a campaign with another {', another '.join(other)}: go on with what it"
                " was begun with, or choose another directory"
            )

    def _finished(self, protocol: Protocol) -> Iterator[dict[str, Any]]:
        written = self._directory.read("blocks", rows.BLOCKS)
        if written is not None:
            self.seconds = waves.seconds_walked(self._directory, written.count())
            yield from _in_order(written.where(F.col("protocol") == protocol.name))

    def _wave(self, plan: Plan, protocol: Protocol, first: int, size: int, partitions: int) -> Iterator[dict[str, Any]]:
        """Run some blocks and write them; then read what was written."""
        started = time.monotonic()
        numbers = self._spark.range(first, first + size, 1, partitions)
        done = self._run(numbers, tasks.RUN_BLOCKS, plan, protocol, rows.BLOCKS, {})
        name = f"wave={plan.protocols.index(protocol)}-{first}"
        self._directory.write(done, "blocks", name)
        seconds = time.monotonic() - started
        self.seconds += seconds
        self._directory.write_rows([{"schedules": size, "seconds": seconds}], waves.SCHEMA, "waves", name)
        written = self._directory.read(f"blocks/{name}", rows.BLOCKS)
        assert written is not None
        yield from _in_order(written)

    def _run(
        self, numbers: DataFrame, task: str, plan: Plan, protocol: Protocol, schema: pa.Schema, more: dict[str, Any]
    ) -> DataFrame:
        argument = {"plan": plan.document(), "protocol": protocol.name, **more}
        return self._workers.map(numbers, task, argument, schema)


def _in_order(written: DataFrame) -> Iterator[dict[str, Any]]:
    """Rows of blocks in their order, a partition at a time, so that memory does not grow with their number."""
    for row in written.orderBy("number").toLocalIterator():
        yield row.asDict(recursive=True)
