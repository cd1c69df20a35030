"""Kept: what is in a campaign's directory on this machine, read without Spark and at any time, also while it grows.

Every file is there or it is not (directory.py), so that what is read is whole as far as it goes. Pages of Parquet carry
checksums, and a file that is damaged is named, with what there is to do about it.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from epochfuzz.harness.campaign.run.work import Work
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.campaign.store.found import ALONE, refuse_foreign_to, work_found
from epochfuzz.harness.campaign.store.place import is_held

WAVE = "wave=%Y%m%dT%H%M%S.%fZ"
_WAVE = re.compile(r"wave=\d{8}T\d{6}\.\d{6}Z")  # in a path, perhaps that of a file
_TABLES_AT_THE_END = ("findings", "situations", "outcome")


class Kept:
    """The tables of a campaign's directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, *names: str) -> str:
        """Return the path of something in the directory."""
        return str(self.directory.joinpath(*names))

    def has(self, table: str) -> bool:
        """Whether a table has any row."""
        return any(part.num_rows for part in self.tables(table))

    def tables(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield a table, file by file, the oldest wave first, with those of the columns that it has.

        Raises CampaignError.
        """
        for file in self._files(name):
            try:
                with pq.ParquetFile(file, page_checksum_verification=True) as opened:
                    yield opened.read(columns=columns)
            except FileNotFoundError:  # written anew at this moment
                continue
            except (pa.ArrowException, OSError) as error:
                raise CampaignError(self._damage(name, file, str(error).splitlines()[0])) from None

    def read_rows_as_they_are(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a small table; none where it is not there."""
        return [row for part in self.tables(table) for row in part.to_pylist()]

    def read_rows(self, table: str, schema: pa.Schema) -> list[dict[str, Any]]:
        """Return the same with the columns of a schema, null where the table is older than a column."""
        nothing = dict.fromkeys(schema.names)
        return [nothing | row for row in self.read_rows_as_they_are(table)]

    @cached_property
    def work(self) -> Work[Any]:
        """The work that the campaign consists of. Raises CampaignError where there is none, or none of these rules."""
        found = work_found(self)
        if found is None:
            raise CampaignError(
                f"{self.directory} holds no campaign; `epochfuzz campaign run --out {self.directory}` starts one"
            )
        self.refuse_foreign(found)
        return found

    def refuse_foreign(self, work: Work[Any]) -> None:
        """Raise CampaignError for blocks of another campaign than that of a work."""
        campaigns = {name for part in self.tables("blocks", ["campaign"]) for name in _distinct(part, "campaign")}
        refuse_foreign_to(self, work, campaigns)

    @property
    def is_finished(self) -> bool:
        """Whether it has come to its end."""
        return self.has("outcome")

    @property
    def is_running(self) -> bool:
        """Whether a process works on it at this moment."""
        return is_held(self.directory)

    @property
    def begun(self) -> datetime:
        """When its first wave was asked for; without one, when its parameters were written."""
        begun = (wave_begun(file.name) for file in sorted(self.directory.glob("blocks/wave=*")))
        return next(filter(None, begun), None) or _changed(self._files("parameters"))

    @property
    def written(self) -> datetime:
        """When anything was last written."""
        return _changed([*self._files("parameters"), *self._files("blocks"), *self._files("outcome")])

    def seconds(self, schedules: int) -> float:
        """For how long it has worked on so many schedules: as waves.seconds_worked."""
        rows = self.read_rows_as_they_are("waves")
        noted = sum(row["schedules"] or 0 for row in rows)
        return float(sum(row["seconds"] for row in rows) * schedules / noted) if noted else 0.0

    def refuse_damage(self) -> None:
        """Read everything. Raises CampaignError with the first file that is damaged."""
        for table in ("parameters", "subject", "blocks", "waves", *_TABLES_AT_THE_END):
            for _ in self.tables(table):
                pass

    def _files(self, table: str) -> list[Path]:
        """Return what Spark has finished writing; the names of other things begin with `_` or `.`."""
        place = self.directory / table
        found = ((file.relative_to(place).parts, file) for file in place.rglob("*.parquet"))
        return sorted(file for parts, file in found if not any(part.startswith(("_", ".")) for part in parts))

    def _damage(self, table: str, file: Path, reason: str) -> str:
        """Return what is wrong with a file, and what can be done."""
        said = f"{file} is damaged ({reason}): "
        if table == "parameters":
            return said + ALONE
        end = [self.path(name) for name in _TABLES_AT_THE_END if self._files(name)]
        if table in _TABLES_AT_THE_END:
            remedy, comes = end, "its end is made again"
        elif table == "subject":
            remedy, comes = [str(file.parent)], "the subject is asked again what it has"
        elif table == "waves":
            remedy, comes = [str(file.parent)], "only the time that the wave took is lost"
        else:
            remedy, comes = [str(file.parent), *end], "the blocks of that wave are done again"
        return f"{said}remove {' and '.join(remedy)}, and {self.work_as_it_is.how_to_resume(self.path())}; {comes}"

    @property
    def work_as_it_is(self) -> Work[Any]:
        """The work of the parameters, whatever the blocks are of."""
        found = work_found(self)
        assert found is not None
        return found


def wave_begun(path: str) -> datetime | None:
    """When the wave of a path was asked for; None where its name does not say that."""
    named = _WAVE.search(path)
    return None if named is None else datetime.strptime(named[0], WAVE).replace(tzinfo=UTC)


def _distinct(part: pa.Table, column: str) -> list[Any]:
    return part[column].unique().drop_null().to_pylist() if column in part.column_names else []


def _changed(files: Sequence[Path]) -> datetime:
    return datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC)
