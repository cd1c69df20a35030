"""An interruption while Spark starts leaves no Java process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.project.sources import ROOT

PATIENCE = 60.0  # seconds


def running_java(mark: str) -> list[int]:
    """Return the ids of the Java processes with a variable in their environment."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            program = Path(os.readlink(process / "exe")).name
            if program == "java" and mark in (process / "environ").read_text():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def wait_until(is_so, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)
    assert is_so()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_interrupted_while_spark_starts_leaves_no_java_process(number, tmp_path):
    mark = f"EPOCHFUZZ_RUN={tmp_path}"
    run = subprocess.Popen(
        [sys.executable, "-m", "epochfuzz", "campaign", "run", "--out", tmp_path / "c", "--schedules", "1000"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "EPOCHFUZZ_RUN": str(tmp_path)},
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
