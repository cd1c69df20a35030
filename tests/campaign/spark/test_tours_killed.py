"""An exhaustive campaign on two workers that is killed twice has the results of a local run, row for row."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.spark.test_clusters import ROOT, SPARK, environment, server
from tests.campaign.store.test_killed import kill_when

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

PLACES = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
SUBJECT = ("env", f"PYTHONPATH={PLACES}", sys.executable, "-m", "tests.conform.subject")
WORDS = ("--exhaustive", "--epochs", "1", "--processes-for", "40", "--certify", "0", "--json")
COMMAND = ("-c", "from epochfuzz.harness.cli.main import main; main()", "conform", *WORDS)
DEFECTIVE = (*SUBJECT, "--defect", "shrinking-does-not-advance")


def conform(directory: Path, *words: str) -> "subprocess.Popen[str]":
    settings = environment(directory) | {"PYTHONPATH": PLACES}
    return subprocess.Popen(
        [sys.executable, *COMMAND, *words, "--", *DEFECTIVE],
        cwd=directory, env=settings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,
    )  # fmt: skip


def results(running: "subprocess.Popen[str]") -> dict[str, Any]:
    """Return the JSON of a run without times and the command line."""
    out, _ = running.communicate(timeout=900)
    assert running.returncode == 1
    others = ("seconds", "steps_per_second", "reproduce")
    return {name: value for name, value in json.loads(out).items() if name not in others}


def test_an_exhaustive_campaign_that_is_killed_twice_has_the_results_of_a_local_run(tmp_path: Path) -> None:
    expected = results(conform(tmp_path))
    assert (expected["transitions"]["reachable"], expected["transitions"]["complete"]) == (2_700, True)
    assert expected["transitions"]["differing"] > 0
    spark_class, there = str(SPARK / "spark-class"), tmp_path / "there"
    master = ("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    worker = ("org.apache.spark.deploy.worker.Worker", "--webui-port", "0", "--cores", "1", "--memory", "1g")
    registered = "Successfully registered with master"
    with (
        server(tmp_path, r"Starting Spark master at (spark://127.0.0.1:\d+)", spark_class, *master) as at,
        server(tmp_path, registered, spark_class, *worker, at[1]),
        server(tmp_path, f"(?s).*{registered}", spark_class, *worker, at[1]),
    ):
        on_it = ("--campaign", str(there), "--master", at[1])
        for waves in (1, 3):
            kill_when(conform(tmp_path, *on_it), there, waves)
        assert results(conform(tmp_path, *on_it)) == expected
    assert results(conform(tmp_path, "--campaign", "c", "--master", "local[2]")) == expected
