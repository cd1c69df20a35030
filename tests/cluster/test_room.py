"""A cluster's room is removed at its end, and the next room removes the room of a killed run."""

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
    subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL)  # else a reader of stdout waits for it
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
        while not rooms.processes(directory):  # until exec has set its command line
            time.sleep(0.01)
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_the_end_of_a_room_kills_its_processes_and_removes_its_directory(
    started: Callable[[Path], subprocess.Popen[bytes]],
) -> None:
    with rooms.room() as here:
        process = started(here)
        (here / "data").write_text("x")
    assert process.wait(10) == -signal.SIGKILL
    assert not here.exists()


def test_the_end_of_a_room_kills_a_paused_process(started: Callable[[Path], subprocess.Popen[bytes]]) -> None:
    with rooms.room() as here:
        process = started(here)
        process.send_signal(signal.SIGSTOP)
    assert process.wait(10) == -signal.SIGKILL


def interrupted_in_a_room(left: list[Path]) -> None:
    with rooms.room() as here:
        left.append(here)
        raise KeyboardInterrupt


def test_ctrl_c_removes_a_room() -> None:
    left: list[Path] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_in_a_room(left)
    assert not left[0].exists()


def test_a_new_room_removes_the_directory_and_the_processes_of_a_killed_run() -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True, check=False)
    abandoned = Path(killed.stdout.strip())
    assert killed.returncode == -signal.SIGKILL
    assert abandoned.exists()
    with rooms.room():
        assert not abandoned.exists()
        assert rooms.processes(abandoned) == []


def test_a_new_room_does_not_remove_a_room_that_is_in_use(started: Callable[[Path], subprocess.Popen[bytes]]) -> None:
    with rooms.room() as one:
        process = started(one)
        with rooms.room():
            assert one.exists()
            assert process.poll() is None


def test_the_end_of_a_room_does_not_kill_other_processes(
    started: Callable[[Path], subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    other = started(tmp_path / "epochfuzz-cluster-other")
    with rooms.room():
        pass
    assert other.poll() is None


def test_a_room_raises_an_error_at_the_start_if_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_NEEDED", 1 << 62)
    with pytest.raises(ClusterError, match=r"MiB free, but a cluster needs .* set TMPDIR to another"), rooms.room():
        pass
