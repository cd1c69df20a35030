"""Workers: tasks of this package, run by Spark's Python workers over Arrow batches, wherever those workers are.

On a local master they read the files that the driver reads. Everywhere else the sources travel inside the function, as
a zip. Artifacts of a session (`addArtifacts`) would do too, but a zip cannot be compiled and cached by Numba where it
lies, and a session that already has an artifact of that name refuses another.
"""

import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession, is_remote
from pyspark.sql.pandas.types import from_arrow_schema

import harness
from harness.campaign import bootstrap

cloudpickle.register_pickle_by_value(bootstrap)  # type: ignore[no-untyped-call]

_ROOT = Path(harness.__file__).parent.parent
_PACKAGES = ("model", "strategies", "harness")


class Workers:
    """The Python workers of a Spark session."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        local = not is_remote() and is_local(spark.conf.get("spark.master") or "")
        self._where = (str(_ROOT), None) if local else zip_of_sources()

    def map(self, numbers: DataFrame, task: str, argument: Any, schema: pa.Schema) -> DataFrame:
        """The rows with which a task of harness.campaign.worker answers to the numbers, a DataFrame of one column."""
        where, run_task = self._where, bootstrap.run_task

        def run(batches: Iterator[Any]) -> Iterator[Any]:
            return run_task(where, task, argument, batches)

        return numbers.mapInArrow(run, from_arrow_schema(schema))


def is_local(master: str) -> bool:
    """Whether a master's workers are on this machine, children of this process; `local-cluster[...]` has executors."""
    return master == "local" or master.startswith("local[")


def zip_of_sources() -> tuple[str, bytes]:
    """The sources of the packages as a zip, the same bytes for the same sources, and its digest."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in _PACKAGES:
            for source in sorted((_ROOT / package).rglob("*.py")):
                name = source.relative_to(_ROOT).as_posix()
                archive.writestr(zipfile.ZipInfo(name), source.read_bytes(), zipfile.ZIP_DEFLATED)
    return hashlib.sha256(buffer.getvalue()).hexdigest()[:16], buffer.getvalue()
