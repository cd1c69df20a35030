"""Campaigns on real Kafka clusters. The tests need Java, Maven, the extra `cluster` and several minutes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from epochfuzz.harness.campaign.clusters import plays
from epochfuzz.harness.campaign.store.local_tables import LocalTables

pytest.importorskip("confluent_kafka")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_200)]

ROOT = Path(__file__).parents[2]
ASKED = ("--engine", "cluster", "--replicas", "3", "--schedules", "2", "--seed", "28", "--master", "local[1]")


@pytest.fixture(autouse=True)
def has_what_kafka_needs() -> None:
    if not shutil.which("mvn") and os.environ.get("CI") != "true":
        pytest.skip("Maven is not installed")


def campaign(*words: object, **environment: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", "from harness.cli.main import main; main()", "campaign", *map(str, words)]
    return subprocess.Popen(
        [*command, "--json"],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kafka_processes(directory: Path) -> list[str]:
    """Return the ids of the Kafka processes that work in a campaign's directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"-Depochfuzz.room={directory}/".encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def wait(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def played(directory: Path) -> list[tuple[int, list[str]]]:
    rows = list(LocalTables(directory).blocks(plays.BLOCKS))
    return [(each["schedule"], each["events"]) for row in rows for each in row["played"]]


def test_a_killed_campaign_resumes_with_equal_schedules_and_leaves_no_kafka_process(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    out, err = campaign("run", "--out", whole, *ASKED).communicate()
    assert json.loads(out)["schedules"] == len(played(whole)) == 2, err
    assert kafka_processes(whole) == []
    running = campaign("run", "--out", killed, *ASKED)
    wait(lambda: len(kafka_processes(killed)) == 4)
    running.send_signal(signal.SIGKILL)
    running.wait()
    wait(lambda: not kafka_processes(killed))
    out, err = campaign("resume", killed, "--master", "local[1]").communicate()
    assert json.loads(out)["schedules"] == 2, err
    assert played(killed) == played(whole)
    assert kafka_processes(killed) == []


def test_a_worker_without_maven_ends_the_campaign_with_the_install_command(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for directory in map(Path, os.get_exec_path()):
        for file in directory.iterdir() if directory.is_dir() else ():
            here = tmp_path / "bin" / file.name
            if file.name != "mvn" and not here.is_symlink():
                here.symlink_to(file)
    without = {"PATH": str(tmp_path / "bin"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    running = campaign("run", "--out", tmp_path / "c", *ASKED, **without)
    out, err = running.communicate()
    assert (running.returncode, out) == (2, "")
    assert "a worker cannot start Kafka: mvn is missing; run `sudo apt-get install maven`" in err
    assert "Traceback" not in err
