"""Copy the data directories of a cluster for `--keep-data`. `epochfuzz audit` can read the copies."""

import shutil
from collections.abc import Sequence
from pathlib import Path

DATA = "data"  # the directory of the copies, next to the logs of the brokers

# A broker preallocates 10 MB for each index (log.index.size.max.bytes), and builds a missing index again.
_INDEXES = ("*.index", "*.timeindex", "*.txnindex")
_LOCK = ".lock"


class Copies:
    """Copies of the nodes' data directories, in `directory`.

    A cluster makes copies before each restart of a node, and when the cluster ends. A restarted broker may truncate
    records that no other replica has. Only the copy from before the restart still has these records.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def before_restart(self, name: str, data: Path) -> None:
        """Copy the data directory of a node that is about to start again."""
        number = 1
        while (copy := self._directory / f"{name}-before-restart-{number}").exists():
            number += 1
        _copy(data, copy)

    def at_the_end(self, nodes: Sequence[tuple[str, Path]]) -> None:
        """Copy the data of nodes that have ended. `nodes` has pairs of a node's name and its data directory."""
        for name, data in nodes:
            if data.is_dir():
                _copy(data, self._directory / name)


def _copy(data: Path, copy: Path) -> None:
    shutil.copytree(data, copy, symlinks=True, ignore=shutil.ignore_patterns(*_INDEXES, _LOCK))
