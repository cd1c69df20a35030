"""Read the directory of a campaign on this machine without Spark, also while the campaign runs.

Every file is complete or absent (directory.py), so a reader never sees part of a file. Parquet pages carry checksums.
An error about a damaged file names the file and the remedy.
"""

import importlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from epochfuzz.harness.campaign.run.job import Counts, Job
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.campaign.store.identity import ALONE, refuse_foreign_to, work_found
from epochfuzz.harness.campaign.store.location import is_held
from epochfuzz.harness.campaign.store.tables import Numbers, Tables
from epochfuzz.harness.documents.records import Checked

WAVE = "wave=%Y%m%dT%H%M%S.%fZ"
_WAVE = re.compile(r"wave=\d{8}T\d{6}\.\d{6}Z")  # a part of the path of a wave or of a file in it
_BATCH = 1_000  # rows that are converted to Python at once
_TABLES_AT_THE_END = ("findings", "situations", "outcome")


class LocalTables(Tables):
    """Reads the tables in a campaign's directory on this machine."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, *names: str) -> str:
        """Return the path of a file or table in the directory."""
        return str(self.directory.joinpath(*names))

    def has(self, table: str) -> bool:
        """Return whether a table exists and has at least one row."""
        return any(part.num_rows for part in self.tables(table))

    def is_written(self, table: str, schema: pa.Schema) -> bool:
        """Return whether a table exists, perhaps without rows."""
        return bool(self._files(table))

    def tables(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the content of each file of a table, oldest wave first.

        If a file lacks a requested column, its content lacks the column, too. Raises CampaignError for a damaged file.
        """
        for file in self._files(name):
            try:
                with pq.ParquetFile(file, page_checksum_verification=True) as opened:
                    yield opened.read(columns=columns)
            except FileNotFoundError:  # a writer is replacing the file
                continue
            except (pa.ArrowException, OSError) as error:
                raise CampaignError(self._damage(name, file, str(error).splitlines()[0])) from None

    def read_rows_as_they_are(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a small table. The list is empty if the table is absent."""
        return [row for part in self.tables(table) for row in part.to_pylist()]

    def read_rows(self, table: str, schema: pa.Schema) -> list[dict[str, Any]]:
        """Return the rows of a table with the columns of a schema. A column that the table lacks is None."""
        nothing = dict.fromkeys(schema.names)
        return [nothing | row for row in self.read_rows_as_they_are(table)]

    @cached_property
    def work(self) -> Job[Any]:
        """The job of the campaign.

        Raises CampaignError if the directory has no campaign, or has blocks of another campaign.
        """
        found = work_found(self)
        if found is None:
            raise CampaignError(
                f"{self.directory} holds no campaign;"
                f" `epochfuzz campaign run --out {quote(str(self.directory))}` starts one"
            )
        self.refuse_foreign(found)
        return found

    def refuse_foreign(self, work: Job[Any]) -> None:
        """Raise CampaignError if the directory has blocks of another campaign, or of an older epochfuzz."""
        campaigns: set[str | None] = set()
        for part in self.tables("blocks", ["campaign", "block_number"]):
            campaigns.update(part["campaign"].unique().to_pylist() if "block_number" in part.column_names else [None])
        refuse_foreign_to(self, work, campaigns)

    # The table of blocks

    def numbers(self) -> Numbers:
        """Return the numbers of the finished blocks, in ascending order."""
        parts = [part["block_number"].to_numpy() for part in self._once(["block_number"])]
        return np.sort(np.concatenate([np.zeros(0, np.int64), *parts]))

    def counts(self, names: Sequence[str]) -> Counts:
        """Return the sums of Job.counts over the finished blocks."""
        sums: Counts = Counter()
        for part in self._once(["block_number", "counts"]):
            pairs = part["counts"].combine_chunks()
            table = pa.table({"name": pairs.keys, "count": pairs.items})
            summed = table.group_by("name").aggregate([("count", "sum")]).to_pydict()
            sums.update(dict(zip(summed["name"], summed["count_sum"], strict=True)))
        return sums

    def blocks(self, schema: pa.Schema, first: int = 0, end: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of the finished blocks from `first` to `end` - 1, ordered by block number."""
        parts = [self._within(part, first, end) for part in self._once(["block_number", *schema.names])]
        if parts:
            for batch in pa.concat_tables(parts).sort_by("block_number").to_batches(max_chunksize=_BATCH):
                yield from batch.to_pylist()

    def again(self, schema: pa.Schema, numbers: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Yield the rows of the second runs of blocks, with the column `block_number`."""
        for part in self.tables("blocks", ["block_number", "again", *schema.names]):
            is_again = pc.and_(part["again"], pc.is_in(part["block_number"], pa.array(numbers, pa.int64())))
            yield from part.filter(is_again).to_pylist()

    def map_blocks(self, task: str, argument: Any, given: pa.Schema, schema: pa.Schema) -> Iterator[pa.Table]:
        """Apply a task to the finished blocks in this process, and yield its results as tables with `schema`."""
        parts = (part.select(given.names) for part in self._once(["block_number", *given.names]))
        batches = (batch for part in parts for batch in part.to_batches())
        yield pa.Table.from_batches(function_of(task)(argument, batches), schema)

    def differing(self) -> list[int]:
        """Return the numbers of the blocks that had different results in two runs."""
        written = self._written({"block_number": pa.int64(), "digest": pa.string()})
        results = written.group_by("block_number").aggregate([("digest", "count_distinct")])
        return sorted(results.filter(pc.greater(results["digest_count_distinct"], 1))["block_number"].to_pylist())

    def checked(self) -> Checked:
        """Return numbers about the blocks that ran twice."""
        written = self._written({"block_number": pa.int64(), "worker": pa.string(), "memory": pa.int64()})
        sums = [("worker", "count"), ("worker", "count_distinct"), ("memory", "max")]
        by_block = written.group_by("block_number").aggregate(sums)
        several = ("worker_count", "worker_count_distinct")
        twice, elsewhere = (int(pc.sum(pc.greater(by_block[name], 1)).as_py() or 0) for name in several)
        return Checked(twice, elsewhere, pc.max(by_block["memory_max"]).as_py() or 0)

    def _written(self, columns: dict[str, pa.DataType]) -> pa.Table:
        """Return columns of all rows of the table of blocks, with the second runs."""
        schema = pa.schema(columns)
        parts = (part.select(list(columns)).cast(schema) for part in self.tables("blocks", list(columns)))
        return pa.concat_tables([schema.empty_table(), *parts])

    def _once(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield tables of block rows, with one row for each block: the first row written. Omits second runs."""
        seen: set[int] = set()
        for part in self.tables("blocks", ["again", *columns]):
            numbers, again = part["block_number"].to_pylist(), part["again"].to_pylist()
            new = [not twice and number not in seen for number, twice in zip(numbers, again, strict=True)]
            seen.update(number for number, is_new in zip(numbers, new, strict=True) if is_new)
            yield part.filter(pa.array(new, pa.bool_()))

    @staticmethod
    def _within(part: pa.Table, first: int, end: int | None) -> pa.Table:
        after = pc.greater_equal(part["block_number"], first)
        return part.filter(after if end is None else pc.and_(after, pc.less(part["block_number"], end)))

    # The course of the campaign

    @property
    def is_finished(self) -> bool:
        """True if the campaign has written its outcome."""
        return self.has("outcome")

    @property
    def is_running(self) -> bool:
        """True while a process holds the lock of the directory."""
        return is_held(self.directory)

    @property
    def begun(self) -> datetime:
        """The time when the first blocks were submitted.

        If no block was submitted yet, the time when the parameters were written.
        """
        begun = (wave_begun(file.name) for file in sorted(self.directory.glob("blocks/wave=*")))
        return next(filter(None, begun), None) or _changed(self._files("parameters"))

    @property
    def written(self) -> datetime:
        """The time of the last write to the parameters, the blocks or the outcome."""
        return _changed([*self._files("parameters"), *self._files("blocks"), *self._files("outcome")])

    def seconds(self, schedules: int) -> float:
        """Return the estimated seconds that the campaign spent on `schedules` schedules."""
        rows = self.read_rows_as_they_are("waves")
        noted = sum(row["schedules"] or 0 for row in rows)
        return float(sum(row["seconds"] for row in rows) * schedules / noted) if noted else 0.0

    def refuse_damage(self) -> None:
        """Read all tables. Raises CampaignError at the first damaged file."""
        for table in ("parameters", "subject", "blocks", "waves", *_TABLES_AT_THE_END):
            for _ in self.tables(table):
                pass

    def _files(self, table: str) -> list[Path]:
        """Return the finished files of a table.

        Spark marks unfinished files by a part of the path that begins with _ or ".".
        """
        place = self.directory / table
        found = ((file.relative_to(place).parts, file) for file in place.rglob("*.parquet"))
        return sorted(file for parts, file in found if not any(part.startswith(("_", ".")) for part in parts))

    def _damage(self, table: str, file: Path, reason: str) -> str:
        """Return the message about a damaged file, with the remedy: which files to remove, or to restore."""
        said = f"{file} is damaged ({reason}); "
        if table == "parameters":
            return said + ALONE
        end = [self.path(name) for name in _TABLES_AT_THE_END if self._files(name)]
        if table in _TABLES_AT_THE_END:
            remedy, comes = end, "epochfuzz computes its end again"
        elif table == "subject":
            remedy, comes = [str(file.parent)], "epochfuzz asks the system under test again"
        elif table == "waves":
            remedy, comes = [str(file.parent)], "only the duration of the wave is lost"
        else:
            remedy, comes = [str(file.parent), *end], "the blocks of that wave run again"
        return f"{said}remove {' and '.join(remedy)}, and {self.work_as_it_is.how_to_resume(self.path())}; {comes}"

    @property
    def work_as_it_is(self) -> Job[Any]:
        """The job that the parameters describe. Unlike `work`, it does not check the blocks."""
        found = work_found(self)
        assert found is not None
        return found


def wave_begun(path: str) -> datetime | None:
    """Return the time when a wave was submitted, from the path of the wave. None if the path has no time."""
    named = _WAVE.search(path)
    return None if named is None else datetime.strptime(named[0], WAVE).replace(tzinfo=UTC)


def function_of(task: str) -> Any:
    """Return the function that a text `module:function` names."""
    module, _, function = task.rpartition(":")
    return getattr(importlib.import_module(module), function)


def _changed(files: Sequence[Path]) -> datetime:
    return datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC)
