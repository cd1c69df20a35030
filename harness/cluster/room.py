"""A room: a temporary directory for one cluster, removed when the cluster ends.

The process that creates a room holds a lock on a file in the room. If the lock is free, this creator was killed before
it could remove the room. epochfuzz then removes the room, and kills the processes with the room's name in their command
lines.
"""

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from epochfuzz.harness.cluster.errors import ClusterError, NotReached
from epochfuzz.harness.cluster.waiting import until
from epochfuzz.harness.environment.locks import take_lock

_PREFIX = "epochfuzz-cluster-"
_LOCK = "lock"
_GONE_WITHIN = 10.0  # seconds
_NEEDED = 1 << 30  # bytes for four logs with their indexes, and the load of a scenario


@contextmanager
def room() -> Iterator[Path]:
    """Create a room (the temporary directory of a cluster), and remove it at the end of the `with` block.

    Also removes the rooms of killed processes. Raises ClusterError.
    """
    parent = Path(tempfile.gettempdir())
    remove_abandoned(parent)
    free = shutil.disk_usage(parent).free
    if free < _NEEDED:
        raise ClusterError(
            f"{parent} has {free >> 20} MiB free, but a cluster needs {_NEEDED >> 20}; set TMPDIR to another directory"
        )
    directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    with (directory / _LOCK).open("w") as lock:
        take_lock(lock.fileno(), wait=True)
        try:
            yield directory
        finally:
            _clear(directory)


def new_directory(directory: Path) -> Path:
    """Create a directory for logs. Raises ClusterError if the directory exists or cannot be created."""
    try:
        directory.mkdir(parents=True)
    except FileExistsError:
        raise ClusterError(f"{directory} already exists; name another directory, or remove it") from None
    except OSError as error:
        raise ClusterError(f"{directory} cannot be created: {error.strerror}; name another directory") from None
    return directory


def mark(directory: Path) -> str:
    """Return a Java option that marks the processes of a room (the temporary directory of a cluster)."""
    return f"-Depochfuzz.room={directory}"


def processes(directory: Path) -> list[int]:
    """Return the ids of the processes that have the mark of a room (the temporary directory of a cluster)."""
    wanted = mark(directory).encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (process / "cmdline").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def remove_abandoned(parent: Path) -> None:
    """Remove the rooms of killed processes in the directory `parent`, and kill the clusters' processes."""
    for directory in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError), (directory / _LOCK).open("r+") as lock:
            if take_lock(lock.fileno()):
                _clear(directory)


def _clear(directory: Path) -> None:
    for process in processes(directory):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    with contextlib.suppress(NotReached):  # a process that still writes would create a file again
        until("its processes are gone", lambda: not processes(directory), _GONE_WITHIN)
    shutil.rmtree(directory, ignore_errors=True)
