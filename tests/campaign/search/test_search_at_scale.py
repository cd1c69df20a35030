"""Exhaustive searches on Spark that exceed memory, run on a cluster, or are killed several times."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.campaign.spark.test_clusters import ROOT, SPARK, environment, server

pytestmark = pytest.mark.slow

MEASURED = ("transitions_per_second", "bytes_per_state")
BOUNDS = ("--protocol", "kip-320", "--replicas", "3", "--records", "1", "--epochs", "1")
LARGE = ("--protocol", "kip-320", "--replicas", "3", "--records", "2", "--epochs", "2")


def explore(directory, *arguments):
    """Start the command in a directory and in its own process group."""
    return subprocess.Popen(
        [sys.executable, "-m", "epochfuzz", "explore", *map(str, arguments), "--json"],
        cwd=directory,
        env=environment(directory) | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def ended(running, code=0):
    out, _ = running.communicate(timeout=3000)
    assert running.returncode == code
    return {key: value for key, value in json.loads(out).items() if key not in MEASURED}


def kill_at(running, search, levels):
    """Kill the driver and its child processes once this number of levels is complete."""
    deadline = time.monotonic() + 600
    while len(list(search.glob("counted/level=*/*.parquet"))) < levels:
        assert running.poll() is None, "the search was over before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def test_a_search_that_is_killed_three_times_has_the_results_of_a_search_in_memory(tmp_path):
    search = tmp_path / "s"
    kill_at(explore(tmp_path, *BOUNDS, "--out", search), search, 2)
    for levels in (6, 11):
        kill_at(explore(tmp_path, "--resume", search), search, levels)
    assert ended(explore(tmp_path, "--resume", search)) == ended(explore(tmp_path, *BOUNDS))


def test_a_search_on_two_workers_with_a_killed_driver_has_the_results_of_a_search_in_memory(tmp_path):
    spark_class, search = SPARK / "spark-class", tmp_path / "s"
    master = ("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    worker = ("org.apache.spark.deploy.worker.Worker", "--webui-port", "0", "--cores", "1", "--memory", "1g")
    places = [tmp_path / name for name in ("master", "one", "two")]
    for place in places:
        place.mkdir()
    with (
        server(places[0], r"Starting Spark master at (spark://127.0.0.1:\d+)", spark_class, *master) as at,
        server(places[1], "Successfully registered with master", spark_class, *worker, at[1]),
        server(places[2], "Successfully registered with master", spark_class, *worker, at[1]),
    ):
        kill_at(explore(tmp_path, *BOUNDS, "--out", search, "--master", at[1]), search, 4)
        found = ended(explore(tmp_path, "--resume", search, "--master", at[1]))
    assert found == ended(explore(tmp_path, *BOUNDS))


@pytest.mark.timeout(3_000)
def test_a_search_that_exceeds_memory_completes_on_spark_with_a_bounded_heap(tmp_path):
    in_memory = ended(explore(tmp_path, *LARGE, "--memory", "0.1"), code=4)
    assert not in_memory["complete"]
    on_disk = ended(explore(tmp_path, *LARGE, "--out", tmp_path / "s", "--master", "local[2]", "--memory", "1"))
    assert on_disk == ended(explore(tmp_path, *LARGE))
    assert on_disk["complete"]
    assert on_disk["states"] > in_memory["states"]
