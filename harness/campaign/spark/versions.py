"""Versions: what PySpark 3.5 and 4 do not have in common, and which servers a PySpark can work with.

No other file asks which PySpark it is. Platforms bring a 3.5 of their own with parts of 4 in it, so that on any PySpark
3 nothing is used but what Spark's own 3.5 documents.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.utils import is_remote

from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.extras import OLDEST_SPARK

__all__ = [
    "condition",
    "from_arrow",
    "interrupt",
    "is_remote",
    "observed",
    "require_home",
    "require_server",
    "to_arrow",
]

_IS_3 = pyspark.__version__.startswith("3.")


def to_arrow(rows: DataFrame) -> pa.Table:
    """Return rows as an Arrow table; PySpark 3 makes no such table of its own, and pandas knows no null integer."""
    if not _IS_3:
        return rows.toArrow()
    return pa.Table.from_pylist([row.asDict(recursive=True) for row in rows.collect()], to_arrow_schema(rows.schema))


def from_arrow(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return the rows of an Arrow table, which PySpark 3 takes only one by one."""
    if not _IS_3:
        return spark.createDataFrame(table)
    return spark.createDataFrame(table.to_pylist(), from_arrow_schema(table.schema))


def observed(
    rows: DataFrame, sums: list[Column], write: Callable[[DataFrame], None], written: Callable[[], DataFrame | None]
) -> dict[str, Any]:
    """Write rows, and return what they come to meanwhile; 3.5's client of Spark Connect has to read them again."""
    if _IS_3 and is_remote():
        write(rows)
        again = written()
        return {} if again is None else again.agg(*sums).collect()[0].asDict()
    counted = Observation()
    write(rows.observe(counted, *sums))
    return counted.get


def interrupt(spark: SparkSession) -> None:
    """End all that a session has under way. Up to 3.5 only Spark Connect knows what is of which session."""
    if _IS_3 and not is_remote():
        spark.sparkContext.cancelAllJobs()
    else:
        spark.interruptAll()


def condition(error: PySparkException) -> str | None:
    """Return the name of what is wrong; 3.5's client of Spark Connect has it in the message alone."""
    if not _IS_3:
        return error.getCondition()
    begins = re.match(r"\[([A-Z_.]+)\]", str(error))
    return begins[1] if begins else error.getErrorClass()


def require_home() -> None:
    """Raise CampaignError where SPARK_HOME, whose Java is started, has another Spark than this PySpark is of."""
    home = os.environ.get("SPARK_HOME")
    for jar in Path(home, "jars").glob("spark-core_*.jar") if home else ():
        version = jar.stem.removeprefix("spark-core_").partition("-")[2]
        if _release(version) != _release(pyspark.__version__):
            raise CampaignError(
                f"SPARK_HOME is {home}, Spark {version}, and this is PySpark {pyspark.__version__}:"
                f" unset SPARK_HOME, or {_remedy(version)}"
            )


def require_server(version: str) -> None:
    """Raise CampaignError for a Spark Connect server of a version that this PySpark cannot work with."""
    server = _release(version)
    if server < OLDEST_SPARK:
        oldest = ".".join(map(str, OLDEST_SPARK))
        raise CampaignError(f"the Spark Connect server is Spark {version}: start one of Spark {oldest} or newer")
    if server[0] != _release(pyspark.__version__)[0]:
        raise CampaignError(
            f"the Spark Connect server is Spark {version}, and this is PySpark {pyspark.__version__}:"
            f" {_remedy(version)}"
        )


def _release(version: str) -> tuple[int, int]:
    """Return major and minor of a version, whatever a vendor has put behind them."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _remedy(version: str) -> str:
    """Return how to get the PySpark of a version. Its extras are not asked for: those of 3.5 would bring NumPy 1."""
    major, minor = _release(version)
    return f"pip install 'pyspark=={major}.{minor}.*'"
