"""Copy the data directories of a cluster for `--keep-data`. `epochfuzz audit` can read the copies."""

import shutil
from collections.abc import Sequence
from pathlib import Path

DATA = "data"  # the directory of the copies, next to the logs of the brokers

# A broker preallocates 10 MB for each index (log.index.size.max.bytes), and builds a missing index again.
_INDEXES = ("*.index", "*.timeindex", "*.txnindex")
_LOCK = ".lock"


class Copies:
    """Copies data directories into `directory`: when the cluster ends, and before each restart of a node.

    A restarted broker may truncate records that no other replica has. Only the copy before the restart shows them.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def before_restart(self, name: str, data: Path) -> None:
        """Copy the data of a node before it starts again."""
        number = 1
        while (copy := self._directory / f"{name}-before-restart-{number}").exists():
            number += 1
        _copy(data, copy)

    def at_the_end(self, nodes: Sequence[tuple[str, Path]]) -> None:
        """Copy the data of all nodes after their processes have ended. `nodes` has names and data directories."""
        for name, data in nodes:
            if data.is_dir():
                _copy(data, self._directory / name)


def _copy(data: Path, copy: Path) -> None:
    shutil.copytree(data, copy, symlinks=True, ignore=shutil.ignore_patterns(*_INDEXES, _LOCK))
