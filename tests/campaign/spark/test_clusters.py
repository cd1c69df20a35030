"""Campaigns on separate executors, which share no Python files with the driver."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pyspark
import pytest

from epochfuzz.harness.campaign.walks import findings
from epochfuzz.harness.findings import findings as fuzz
from tests.campaign.conftest import engine, parameters

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
SPARK = Path(pyspark.__file__).parent / "bin"
PATIENCE = 120  # seconds for a server to start

DRIVER = """
import json, sys
from epochfuzz.harness.campaign.spark import session
from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.run.kinds import work_of_text
from epochfuzz.harness.campaign.walks import findings
from tests.campaign.conftest import Quiet

directory, text, master, remote = sys.argv[1:]
with session.opened(master or None, remote or None) as spark:
    outcome = Campaign.start(spark, directory, work_of_text(text)).run(Quiet())
print(json.dumps([findings.row(finding) for finding in outcome.findings]))
"""


def environment(directory):
    """Return the environment of servers and drivers. They import nothing from `directory`, and write files there."""
    places = {"SPARK_LOCAL_DIRS": str(directory), "SPARK_WORKER_DIR": str(directory), "SPARK_LOCAL_IP": "127.0.0.1"}
    return os.environ | places | {"PYTHONPATH": "", "PYSPARK_PYTHON": sys.executable}


@contextmanager
def server(directory, started: str, *command) -> Iterator[re.Match[str]]:
    """Start a Spark server, wait until its log matches `started`, and kill the server at the end of the test."""
    log = directory / f"{started[:8].strip()}.log"
    with log.open("w") as written:
        running = subprocess.Popen(
            [str(word) for word in command],
            cwd=directory,
            env=environment(directory),
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while (said := re.search(started, log.read_text())) is None:
            assert running.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield said
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def free_port():
    with closing(socket.create_server(("127.0.0.1", 0))) as bound:
        return bound.getsockname()[1]


def run(directory, *, master="", remote="", block=5_000):
    """Return the findings of a campaign and the findings of `fuzz`."""
    asked = parameters(block=block)
    command = [sys.executable, "-c", DRIVER, str(directory / "c"), asked.text(), master, remote]
    settings = environment(directory) | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    ended = subprocess.run(command, cwd=directory, env=settings, check=True, stdout=subprocess.PIPE, text=True)
    walker = engine(asked)
    breaches = fuzz.breaches(asked.protocols, asked.settings, walker.walk(0, asked.schedules))
    found = [fuzz.finding(walker, breach, candidates=fuzz.MOST_CANDIDATES) for breach in breaches]
    found = fuzz.certified(found, None)
    return json.loads(ended.stdout), [findings.row(finding) for finding in found]


def test_a_campaign_on_a_local_cluster_has_the_findings_of_fuzz(tmp_path):
    found, expected = run(tmp_path, master="local-cluster[2,1,1024]")
    assert found == expected


def test_a_campaign_on_a_standalone_master_has_the_findings_of_fuzz(tmp_path):
    spark_class = SPARK / "spark-class"
    master = ("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    worker = ("org.apache.spark.deploy.worker.Worker", "--webui-port", "0", "--cores", "2", "--memory", "2g")
    with (
        server(tmp_path, r"Starting Spark master at (spark://127.0.0.1:\d+)", spark_class, *master) as at,
        server(tmp_path, "Successfully registered with master", spark_class, *worker, at[1]),
    ):
        found, expected = run(tmp_path, master=at[1])
    assert found == expected


def test_a_campaign_on_a_spark_connect_server_has_the_findings_of_fuzz(tmp_path):
    port = free_port()
    submit = [SPARK / "spark-submit", "--master", "local[2]", "--conf", f"spark.connect.grpc.binding.port={port}"]
    connect = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with server(tmp_path, "Spark Connect server started at", *submit, *connect):
        found, expected = run(tmp_path, remote=f"sc://127.0.0.1:{port}")
    assert found == expected
