"""A directory for one cluster, which ends with it, however it ends.

Whoever uses a room holds its lock. A room whose lock is free was left behind by somebody who was killed: what runs
there is ended, known by an argument of its command line, and the room is removed.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from epochfuzz.harness.cluster.errors import ClusterError, NotReached
from epochfuzz.harness.cluster.waiting import until

_PREFIX = "epochfuzz-cluster-"
_LOCK = "lock"
_GONE_WITHIN = 10.0  # seconds
_NEEDED = 1 << 30  # bytes: four logs with their indexes, and the load of a scenario


@contextmanager
def room() -> Iterator[Path]:
    """Make a room, once those that were left behind are gone. Raises ClusterError."""
    parent = Path(tempfile.gettempdir())
    remove_abandoned(parent)
    free = shutil.disk_usage(parent).free
    if free < _NEEDED:
        raise ClusterError(
            f"{parent}: {free >> 20} MB are free, and a cluster needs {_NEEDED >> 20}: set TMPDIR to another"
        )
    directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    with (directory / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield directory
        finally:
            _clear(directory)


def new_directory(directory: Path) -> Path:
    """Make a directory for logs that is to stay. Raises ClusterError if it cannot be, or if it is there."""
    try:
        directory.mkdir(parents=True)
    except FileExistsError:
        raise ClusterError(f"{directory} is there already: name another directory, or remove it") from None
    except OSError as error:
        raise ClusterError(f"{directory}: cannot be made: {error.strerror}") from None
    return directory


def mark(directory: Path) -> str:
    """Return the argument by which a process of a room is known."""
    return f"-Depochfuzz.room={directory}"


def processes(directory: Path) -> list[int]:
    """Return the ids of the processes of a room."""
    wanted = mark(directory).encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (process / "cmdline").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def remove_abandoned(parent: Path) -> None:
    """End and remove what somebody who was killed has left."""
    for directory in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError), (directory / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _clear(directory)


def _clear(directory: Path) -> None:
    for process in processes(directory):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    with contextlib.suppress(NotReached):  # who still writes would have a file made anew
        until("its processes are gone", lambda: not processes(directory), _GONE_WITHIN)
    shutil.rmtree(directory, ignore_errors=True)
