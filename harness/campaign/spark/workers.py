"""Run functions of this package in Spark's Python workers, on any machine.

On a local master, workers read the driver's source files. For other masters, the function that Spark sends to the
workers contains a zip of the sources, and the workers unpack the zip. Session artifacts (`addArtifacts`) are no
alternative: they stay zipped, and Numba cannot cache compiled code of modules in a zip. A session also rejects a second
artifact of the same name.
"""

import hashlib
import importlib.util
import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

import epochfuzz
from epochfuzz.harness.campaign.spark import bootstrap
from epochfuzz.harness.campaign.spark.versions import is_remote

cloudpickle.register_pickle_by_value(bootstrap)  # type: ignore[no-untyped-call]

_PACKAGE = Path(epochfuzz.__file__).parent
_ROOT = _PACKAGE.parent
_OF_KAFKA = _PACKAGE / "harness" / "cluster" / "resources"  # files that brokers and Maven need to start


class Workers:
    """The Python workers of a Spark session. `module` names a user's own module that they need, or is None."""

    def __init__(self, spark: SparkSession, module: str | None = None) -> None:
        self.spark = spark
        local = not is_remote() and is_local(spark.conf.get("spark.master") or "")
        if local:
            roots = [_ROOT, *(path.parents[name.count("/")] for name, path in files_of(module).items())]
            self._where: tuple[str, bytes | None] = os.pathsep.join(dict.fromkeys(map(str, roots))), None
        else:
            self._where = zip_of_sources(module)

    def map(self, numbers: DataFrame, task: str, argument: Any, schema: pa.Schema) -> DataFrame:
        """Apply a task to numbers in Spark's workers, and return the task's rows, which have `schema`.

        `numbers` is a DataFrame with one column. `task` is `module:function`, or a function of run/worker.py.
        """
        where, run_task = self._where, bootstrap.run_task

        def run(batches: Iterator[Any]) -> Iterator[Any]:
            return run_task(where, task, argument, batches)

        return numbers.mapInArrow(run, from_arrow_schema(schema))


def is_local(master: str) -> bool:
    """Return whether the workers of a master are children of this process. False for `local-cluster[...]`."""
    return master == "local" or master.startswith("local[")


def zip_of_sources(module: str | None = None) -> tuple[str, bytes]:
    """Return a digest and a zip of this package's sources. Equal sources give equal bytes.

    If a module is given, the zip also holds its file, or all files of its top-level package.
    """
    folders = (_PACKAGE / name for name in ("model", "strategies", "harness"))  # symbolic links in a checkout
    sources = [_PACKAGE / "__init__.py", *(path for folder in folders for path in sorted(folder.rglob("*.py")))]
    sources += sorted(_OF_KAFKA.iterdir())
    files = {path.relative_to(_ROOT).as_posix(): path for path in sources}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in (files | files_of(module)).items():
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return hashlib.sha256(buffer.getvalue()).hexdigest()[:16], buffer.getvalue()


def files_of(module: str | None) -> dict[str, Path]:
    """Return the Python files that a module needs, by relative path: its top-level package, or its single file."""
    top = importlib.util.find_spec(module.partition(".")[0]) if module else None
    if top is None:
        return {}
    if top.submodule_search_locations:
        roots = [Path(place) for place in top.submodule_search_locations]
        return {path.relative_to(root.parent).as_posix(): path for root in roots for path in sorted(root.rglob("*.py"))}
    return {Path(top.origin).name: Path(top.origin)} if top.origin else {}
