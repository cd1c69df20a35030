"""Read the directory of a campaign on this machine without Spark. The campaign may be running at the same time.

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
    """The tables in the directory of a campaign."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, *names: str) -> str:
        """Return the path of a file or table in the directory."""
        return str(self.directory.joinpath(*names))

    def has(self, table: str) -> bool:
        """Return whether a table has any row."""
        return any(part.num_rows for part in self.tables(table))

    def tables(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the content of each file of a table, oldest wave first. A requested column may be missing in a file.

        Raises CampaignError.
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
        """Return the rows of a small table; an empty list if it is absent."""
        return [row for part in self.tables(table) for row in part.to_pylist()]

    def read_rows(self, table: str, schema: pa.Schema) -> list[dict[str, Any]]:
        """Return the rows of a table with all columns of a schema. A column that the table lacks is null."""
        nothing = dict.fromkeys(schema.names)
        return [nothing | row for row in self.read_rows_as_they_are(table)]

    @cached_property
    def work(self) -> Job[Any]:
        """The job of the campaign. Raises CampaignError if there is none, or if blocks belong to another campaign."""
        found = work_found(self)
        if found is None:
            raise CampaignError(
                f"{self.directory} holds no campaign;"
                f" `epochfuzz campaign run --out {quote(str(self.directory))}` starts one"
            )
        self.refuse_foreign(found)
        return found

    def refuse_foreign(self, work: Job[Any]) -> None:
        """Raise CampaignError if any block belongs to the campaign of another job."""
        campaigns = {name for part in self.tables("blocks", ["campaign"]) for name in _distinct(part, "campaign")}
        refuse_foreign_to(self, work, campaigns)

    @property
    def is_finished(self) -> bool:
        """True once the campaign is finished."""
        return self.has("outcome")

    @property
    def is_running(self) -> bool:
        """True while a process works on the campaign."""
        return is_held(self.directory)

    @property
    def begun(self) -> datetime:
        """The submission time of the first wave. Without a wave, the time at which the parameters were written."""
        begun = (wave_begun(file.name) for file in sorted(self.directory.glob("blocks/wave=*")))
        return next(filter(None, begun), None) or _changed(self._files("parameters"))

    @property
    def written(self) -> datetime:
        """The time of the last write to the parameters, the blocks or the outcome."""
        return _changed([*self._files("parameters"), *self._files("blocks"), *self._files("outcome")])

    def seconds(self, schedules: int) -> float:
        """Return the time in seconds that a number of schedules took, computed as in waves.seconds_worked."""
        rows = self.read_rows_as_they_are("waves")
        noted = sum(row["schedules"] or 0 for row in rows)
        return float(sum(row["seconds"] for row in rows) * schedules / noted) if noted else 0.0

    def refuse_damage(self) -> None:
        """Read all tables. Raises CampaignError for the first damaged file."""
        for table in ("parameters", "subject", "blocks", "waves", *_TABLES_AT_THE_END):
            for _ in self.tables(table):
                pass

    def _files(self, table: str) -> list[Path]:
        """Return the finished files of a table. The path of an unfinished file has a part that begins with _ or "."."""
        place = self.directory / table
        found = ((file.relative_to(place).parts, file) for file in place.rglob("*.parquet"))
        return sorted(file for parts, file in found if not any(part.startswith(("_", ".")) for part in parts))

    def _damage(self, table: str, file: Path, reason: str) -> str:
        """Return a message about a damaged file, with the remedy."""
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
        """The job that the parameters describe. The blocks are not checked."""
        found = work_found(self)
        assert found is not None
        return found


def wave_begun(path: str) -> datetime | None:
    """Return the submission time of a wave from its path; None if the path contains no time."""
    named = _WAVE.search(path)
    return None if named is None else datetime.strptime(named[0], WAVE).replace(tzinfo=UTC)


def _distinct(part: pa.Table, column: str) -> list[Any]:
    return part[column].unique().drop_null().to_pylist() if column in part.column_names else []


def _changed(files: Sequence[Path]) -> datetime:
    return datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC)
