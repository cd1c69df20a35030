"""Results are equal on Spark 3.5 and 4, and a line reports a Spark that epochfuzz cannot use."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyspark
import pytest
from packaging.requirements import Requirement
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.spark import session, versions
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.environment.extras import OLDEST_SPARK
from tests.distributions import project_table

ROOT = Path(__file__).parents[3]
LOGS = ROOT / "tests" / "audit" / "logs"
PROTOCOLS = ("--protocol", "hw", "--protocol", "kip-101", "--replicas", 2)
CAMPAIGN = ("campaign", "run", *PROTOCOLS, "--schedules", 20_000, "--seed", 1, "--certify", 0)
OF_THE_RUN = {"seconds", "events_per_second", "directory", "begun", "checked"}


def ended(*words, ahead=None):
    """Run a command that imports modules from the directory `ahead` before installed modules."""
    path = os.pathsep.join(map(str, ([] if ahead is None else [ahead]) + [ROOT / "src", ROOT]))
    command = [sys.executable, "-m", "epochfuzz", *map(str, words)]
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)


@pytest.fixture
def as_on_3(monkeypatch):
    """Take the code path of PySpark 3, which also works on PySpark 4."""
    monkeypatch.setattr(versions, "_IS_3", True)


NESTED = pa.schema(
    {
        "name": pa.string(),
        "count": pa.int64(),
        "key": pa.binary(),
        "of": pa.struct({"share": pa.float64(), "all": pa.list_(pa.struct({"held": pa.bool_()}))}),
    }
)
ROWS = [
    {"name": "a", "count": 1 << 60, "key": b"\x00\xff", "of": {"share": 0.1, "all": [{"held": True}, {"held": None}]}},
    {"name": None, "count": None, "key": None, "of": None},
]


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [ROWS, []])
def test_rows_are_unchanged_after_a_round_trip_through_spark_3(spark, as_on_3, rows):
    there = versions.from_arrow(spark, pa.Table.from_pylist(rows, NESTED))
    back = versions.to_arrow(there)
    assert back.schema == NESTED
    assert back.to_pylist() == rows


def test_counts_come_from_the_written_rows_on_spark_connect_3(spark, as_on_3, monkeypatch, tmp_path):
    monkeypatch.setattr(versions, "is_remote", lambda: True)
    path = str(tmp_path / "numbers")
    counted = versions.observed(
        spark.range(5),
        [F.sum("id").alias("sum")],
        write=lambda rows: rows.write.parquet(path),
        written=lambda: spark.read.parquet(path),
    )
    assert counted == {"sum": 10}


def test_the_error_condition_of_spark_3_is_read_from_the_message(as_on_3):
    for message in ("[PATH_NOT_FOUND] Path does not exist: c", "[PATH_NOT_FOUND]"):
        assert versions.condition(PySparkException(message)) == "PATH_NOT_FOUND"


def test_a_session_on_a_spark_connect_server_of_another_major_version_stops_with_an_error(monkeypatch):
    stopped: list[str] = []
    other = SimpleNamespace(version="3.5.7", stop=lambda: stopped.append("stopped"))
    builder = SimpleNamespace(remote=lambda at: SimpleNamespace(getOrCreate=lambda: other))
    monkeypatch.setattr(session, "_require_any", lambda servers: None)
    monkeypatch.setattr("pyspark.sql.SparkSession.builder", builder)
    message = rf"server is Spark 3\.5\.7, and this is PySpark {pyspark.__version__}; run `pip install 'pyspark==3\.5"
    with pytest.raises(CampaignError, match=message), session.opened(remote="sc://127.0.0.1:9"):
        pass
    assert stopped == ["stopped"]


def test_a_spark_connect_server_may_have_another_minor_version_but_not_be_too_old():
    with pytest.raises(CampaignError, match=r"server is Spark 3\.4\.1; start a server of Spark 3\.5 or newer"):
        versions.require_server("3.4.1")
    versions.require_server(f"{pyspark.__version__.partition('.')[0]}.9.0-vendor-1")


@pytest.mark.parametrize("version", ["3.5.2-amzn-1", pyspark.__version__])
def test_the_message_names_a_spark_home_of_another_major_version(monkeypatch, tmp_path, version):
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / f"spark-core_2.12-{version}.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    if version == pyspark.__version__:
        versions.require_home()
    else:
        message = (
            rf"SPARK_HOME is {tmp_path}, Spark 3\.5\.2-amzn-1, .*"
            r"unset SPARK_HOME, or run `pip install 'pyspark==3\.5\.\*'"
        )
        with pytest.raises(CampaignError, match=message), session.opened():
            pass


@pytest.mark.parametrize(
    "words",
    [
        ("campaign", "run", "--out", "c", "--schedules", "5"),
        ("campaign", "resume", "c"),
        ("audit", LOGS / "re-elected-leader-4.3.1", "--spark"),
        ("explore", "--protocol", "hw", "--out", "c"),
    ],
    ids=["run", "resume", "audit", "explore"],
)
def test_commands_report_an_outdated_pyspark_in_one_line_without_importing_pyspark(tmp_path, words):
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").write_text("raise TypeError('code() argument 13 must be str, not int')\n")
    (tmp_path / "pyspark" / "version.py").write_text("__version__: str = '3.4.4'\n")
    stopped = ended(*words, ahead=tmp_path)
    assert (stopped.returncode, stopped.stdout) == (2, "")
    assert stopped.stderr == (
        "epochfuzz: this runs on Spark 3.5 or newer, and PySpark 3.4.4 is installed: pip install 'pyspark>=3.5'\n"
    )


def test_the_spark_extra_requires_the_oldest_supported_pyspark_or_newer():
    (wanted,) = (text for text in project_table()["optional-dependencies"]["spark"] if text.startswith("pyspark"))
    assert [str(bound) for bound in Requirement(wanted).specifier] == [f">={'.'.join(map(str, OLDEST_SPARK))}"]


@pytest.fixture(scope="module")
def pyspark_3(tmp_path_factory):
    """Install the newest PySpark 3.5 into a directory, without its dependencies, which stay as pinned."""
    directory = tmp_path_factory.mktemp("pyspark-3.5")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", directory, "pyspark==3.5.*"]
    subprocess.run(install, check=True)
    return directory


@pytest.mark.slow  # PySpark has some 300 MB, and each command starts a JVM
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "words",
    [CAMPAIGN, ("audit", LOGS / "re-elected-leader-4.3.1"), ("audit", LOGS / "unclean-3.9.2")],
    ids=["campaign", "re-elected-leader", "unclean"],
)
def test_commands_have_equal_findings_on_spark_3_and_spark_4(pyspark_3, tmp_path, words):
    on_3, on_4 = (
        ended(*words, "--master", "local[2]", "--out", tmp_path / name, "--json", ahead=ahead)
        for name, ahead in (("3", pyspark_3), ("4", None))
    )
    assert on_3.returncode == on_4.returncode, on_3.stderr
    documents = [json.loads(each.stdout) for each in (on_3, on_4)]
    assert documents[0]["findings"]
    found = [{key: document[key] for key in document if key not in OF_THE_RUN} for document in documents]
    assert found[0] == found[1]
