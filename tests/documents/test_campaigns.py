"""docs/how-to/spark-cluster.md lists exactly the packages that Spark executors need."""

import re
import subprocess
import sys

import pytest

from tests.documents.pages import ROOT, named

PAGE = named("how-to/spark-cluster.md").read_text(encoding="utf-8")
LISTED = re.search(r"packages \| ((?:`[\w<]+`[, ]*)+);", PAGE)
NEEDED = [name.partition("<")[0] for name in re.findall(r"`([\w<]+)`", LISTED[1])] if LISTED else []

# Runs a block and a search for situations. Of the dependencies of the project, only those listed can be imported.
WORKER = """
import importlib.abc, sys
listed = set(sys.argv[1:])
needed_somewhere = {"hypothesis", "jinja2", "numba", "numpy", "pandas", "pyarrow", "pydantic", "pytest", "rich",
                    "scipy", "typer", "yaml"}
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in needed_somewhere - listed:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import pyarrow as pa
from epochfuzz.harness.campaign.run import worker
from epochfuzz.harness.campaign.walks import walk_tasks
from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
text = Parameters(protocols=(parse_protocol("hw"),), settings=Configuration(), seed=7, schedules=100).text()
numbers = [pa.RecordBatch.from_pylist([{"id": 0}])]
assert next(worker.do_blocks(text, iter(numbers))).num_rows == 1
assert next(walk_tasks.reach_situations(text, iter(numbers))).num_rows > 0
"""


def work(listed: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WORKER, *listed]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.thorough
def test_spark_executors_need_only_the_packages_that_the_page_lists() -> None:
    assert NEEDED == ["numpy", "numba", "pyarrow", "hypothesis", "pandas"]
    ended = work(NEEDED)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("left_out", ["numpy", "numba", "pyarrow", "hypothesis"])  # and pandas, by PySpark
def test_spark_executors_fail_without_a_package_that_the_page_lists(left_out: str) -> None:
    assert f"No module named '{left_out}'" in work([name for name in NEEDED if name != left_out]).stderr
