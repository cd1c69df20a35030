"""An interruption while Spark starts leaves no Java process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import processes_with
from tests.project.sources import ROOT

PATIENCE = 60.0  # seconds
MARK = "EPOCHFUZZ_RUN"  # an environment variable that the processes of a run inherit


def running_java(mark: str) -> list[str]:
    """Return the command lines of the Java processes of a run."""
    lines = processes_with(MARK, mark).values()
    return [line for line in lines if Path(line.partition(" ")[0]).name == "java"]


def wait_until(is_so, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)
    assert is_so()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_interrupted_while_spark_starts_leaves_no_java_process(number, tmp_path):
    mark = str(tmp_path)
    run = subprocess.Popen(
        [sys.executable, "-m", "epochfuzz", "campaign", "run", "--out", tmp_path / "c", "--schedules", "1000"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), MARK: mark},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: running_java(mark))
    run.send_signal(number)
    _, said = run.communicate(timeout=PATIENCE)
    assert run.returncode == 128 + number
    assert "Traceback" not in said
    assert "Spark failed" not in said
    wait_until(lambda: not running_java(mark))
