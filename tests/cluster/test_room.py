"""A cluster's room ends with it, and what was left behind by somebody who was killed is found and removed."""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from epochfuzz.harness.cluster import room as rooms
from epochfuzz.harness.cluster.errors import ClusterError

KILLED = """
import os, signal, subprocess, sys
from epochfuzz.harness.cluster.room import mark, room
with room() as here:
    words = [sys.executable, "-c", "import time; time.sleep(600)", mark(here)]
    subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL)  # who reads ours waits for all its ends
    print(here, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.fixture
def started() -> Iterator[Callable[[Path], subprocess.Popen[bytes]]]:
    processes = []

    def start(directory: Path) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", "import time; time.sleep(600)", rooms.mark(directory)]
        processes.append(subprocess.Popen(words))
        while not rooms.processes(directory):  # until it is what it was started as
            time.sleep(0.01)
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_what_runs_in_a_room_ends_with_it(started: Callable[[Path], subprocess.Popen[bytes]]) -> None:
    with rooms.room() as here:
        process = started(here)
        (here / "data").write_text("x")
    assert process.wait(10) == -signal.SIGKILL
    assert not here.exists()


def test_a_paused_process_ends_with_its_room_too(started: Callable[[Path], subprocess.Popen[bytes]]) -> None:
    with rooms.room() as here:
        process = started(here)
        process.send_signal(signal.SIGSTOP)
    assert process.wait(10) == -signal.SIGKILL


def interrupted_in_a_room(left: list[Path]) -> None:
    with rooms.room() as here:
        left.append(here)
        raise KeyboardInterrupt


def test_a_room_is_gone_after_ctrl_c() -> None:
    left: list[Path] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_in_a_room(left)
    assert not left[0].exists()


def test_the_next_run_ends_and_removes_what_a_killed_one_has_left() -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True, check=False)
    abandoned = Path(killed.stdout.strip())
    assert killed.returncode == -signal.SIGKILL
    assert abandoned.exists()
    with rooms.room():
        assert not abandoned.exists()
        assert rooms.processes(abandoned) == []


def test_a_room_that_somebody_uses_is_left_alone(started: Callable[[Path], subprocess.Popen[bytes]]) -> None:
    with rooms.room() as one:
        process = started(one)
        with rooms.room():
            assert one.exists()
            assert process.poll() is None


def test_other_processes_are_left_alone(started: Callable[[Path], subprocess.Popen[bytes]], tmp_path: Path) -> None:
    other = started(tmp_path / "epochfuzz-cluster-other")
    with rooms.room():
        pass
    assert other.poll() is None


def test_a_full_disk_is_said_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_NEEDED", 1 << 62)
    with pytest.raises(ClusterError, match=r"MiB free, but a cluster needs .* set TMPDIR to another"), rooms.room():
        pass
