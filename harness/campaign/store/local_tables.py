"""Read the directory of a campaign on this machine without Spark, also while the campaign runs.

Every file is complete or absent (directory.py), so a reader never sees part of a file. Parquet pages carry checksums.
An error about a damaged file names the file and the remedy.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from epochfuzz.harness.campaign.run.job import Job
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.campaign.store.identity import ALONE, refuse_foreign_to, work_found
from epochfuzz.harness.campaign.store.location import is_held

WAVE = "wave=%Y%m%dT%H%M%S.%fZ"
_WAVE = re.compile(r"wave=\d{8}T\d{6}\.\d{6}Z")  # a part of the path of a wave or of a file in it
_TABLES_AT_THE_END = ("findings", "situations", "outcome")


class LocalTables:
    """Reads the tables in a campaign's directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, *names: str) -> str:
        """Return the path of a file or table in the directory."""
        return str(self.directory.joinpath(*names))

    def has(self, table: str) -> bool:
        """Return whether a table exists and has at least one row."""
        return any(part.num_rows for part in self.tables(table))

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
        """Raise CampaignError if the directory has blocks of another campaign than the job's."""
        campaigns = {name for part in self.tables("blocks", ["campaign"]) for name in _distinct(part, "campaign")}
        refuse_foreign_to(self, work, campaigns)

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
        """Return the estimated seconds that the campaign spent on `schedules` schedules (see waves.seconds_worked)."""
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


def _distinct(part: pa.Table, column: str) -> list[Any]:
    return part[column].unique().drop_null().to_pylist() if column in part.column_names else []


def _changed(files: Sequence[Path]) -> datetime:
    return datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC)
