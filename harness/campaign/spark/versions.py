"""Hide the differences between PySpark 3.5 and 4, and check that PySpark can work with a Spark Connect server.

No other file has code for a particular version of PySpark. Some platforms ship a PySpark 3.5 with parts of PySpark 4.
With any PySpark 3, this file therefore uses only the documented API of Apache Spark 3.5.
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
from epochfuzz.harness.environment.extras import OLDEST_SPARK

__all__ = [
    "condition",
    "describe",
    "from_arrow",
    "interrupt",
    "is_remote",
    "observed",
    "place",
    "require_home",
    "require_server",
    "to_arrow",
]

_TAG = "epochfuzz"  # tag of our jobs on Spark Connect
_IS_3 = pyspark.__version__.startswith("3.")


def to_arrow(rows: DataFrame) -> pa.Table:
    """Return rows as an Arrow table. PySpark 3 has no method for this, and pandas turns nullable integers to floats."""
    if not _IS_3:
        return rows.toArrow()
    return pa.Table.from_pylist([row.asDict(recursive=True) for row in rows.collect()], to_arrow_schema(rows.schema))


def from_arrow(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return the rows of an Arrow table as a DataFrame. PySpark 3 accepts a list of rows instead of a table."""
    if not _IS_3:
        return spark.createDataFrame(table)
    return spark.createDataFrame(table.to_pylist(), from_arrow_schema(table.schema))


def observed(
    rows: DataFrame, sums: list[Column], write: Callable[[DataFrame], None], written: Callable[[], DataFrame | None]
) -> dict[str, Any]:
    """Write rows with the function `write`, and return the values of the aggregate columns `sums`, by name.

    PySpark 3.5 on Spark Connect cannot compute the sums while it writes. Only there, the function reads the rows again
    with `written`.
    """
    if _IS_3 and is_remote():
        write(rows)
        again = written()
        return {} if again is None else again.agg(*sums).collect()[0].asDict()
    counted = Observation()
    write(rows.observe(counted, *sums))
    return counted.get


def interrupt(spark: SparkSession) -> None:
    """Cancel all jobs of a session. On PySpark 3.5 without Spark Connect, this cancels the jobs of all sessions."""
    if _IS_3 and not is_remote():
        spark.sparkContext.cancelAllJobs()
    else:
        spark.interruptAll()


def place(spark: SparkSession) -> str:
    """Return a sentence that says where a session runs: on its master, or on Spark Connect.

    A Spark Connect session does not tell the client its master.
    """
    return f"Spark {spark.version} runs on {'Spark Connect' if is_remote() else spark.sparkContext.master}"


def describe(spark: SparkSession, text: str) -> None:
    """Show `text` in Spark's UI as the description of the jobs that this thread starts.

    On Spark Connect, the jobs get a tag instead.
    """
    if not is_remote():
        spark.sparkContext.setJobDescription(text)
    else:
        spark.addTag(_TAG)


def condition(error: PySparkException) -> str | None:
    """Return the name of an error's condition, such as `PATH_NOT_FOUND`. None if the error has no condition.

    PySpark 3.5 has the name only in the message.
    """
    if not _IS_3:
        return error.getCondition()
    begins = re.match(r"\[([A-Z_.]+)\]", str(error))
    return begins[1] if begins else error.getErrorClass()


def require_home() -> None:
    """Raise CampaignError if SPARK_HOME, where Spark starts the JVM, has another release than PySpark."""
    home = os.environ.get("SPARK_HOME")
    for jar in Path(home, "jars").glob("spark-core_*.jar") if home else ():
        version = jar.stem.removeprefix("spark-core_").partition("-")[2]
        if _release(version) != _release(pyspark.__version__):
            raise CampaignError(
                f"SPARK_HOME is {home}, Spark {version}, and this is PySpark {pyspark.__version__};"
                f" unset SPARK_HOME, or run `{_remedy(version)}`"
            )


def require_server(version: str) -> None:
    """Raise CampaignError if this PySpark cannot work with a Spark Connect server of the given version."""
    server = _release(version)
    if server < OLDEST_SPARK:
        oldest = ".".join(map(str, OLDEST_SPARK))
        raise CampaignError(f"the Spark Connect server is Spark {version}; start a server of Spark {oldest} or newer")
    if server[0] != _release(pyspark.__version__)[0]:
        raise CampaignError(
            f"the Spark Connect server is Spark {version}, and this is PySpark {pyspark.__version__};"
            f" run `{_remedy(version)}`"
        )


def _release(version: str) -> tuple[int, int]:
    """Return the major and minor number of a version. A vendor's suffix is ignored."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _remedy(version: str) -> str:
    """Return the pip command for a version of PySpark. It omits extras, because the extras of 3.5 need NumPy 1."""
    major, minor = _release(version)
    return f"pip install 'pyspark=={major}.{minor}.*'"
