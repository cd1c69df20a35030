"""Warming: kernels compiled by processes of their own, side by side, where this machine has not compiled them yet.

`python -m epochfuzz.harness.cli.warming NAME` compiles what a command needs, into the cache that it looks into.
"""

import os
import subprocess
import sys
from collections.abc import Callable

import numba

from epochfuzz.harness.engine.runtime.compilation import cache_directory, is_compiled
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS

_PROTOCOL = GENERATIONS["hw"]
_COMPILES = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]


def _walk() -> None:
    from epochfuzz.harness.engine.walk.walk import Walker

    Walker([_PROTOCOL], Configuration(), 0).walk(0, 1)


def _search() -> None:
    from epochfuzz.harness.engine.explore.explore import explore

    settings = Configuration(records=1, epochs=2)
    explore(_PROTOCOL, settings, properties.named("isr-complete").bit)  # is found, and retraced
    explore(_PROTOCOL, settings, 0)  # and here a table grows


# By the name of what is compiled: what compiles it, and a kernel that shows that this has been done.
WARMED: dict[str, tuple[Callable[[], None], str]] = {
    "search": (_search, "harness_engine_explore_expansion_expand"),
    "walk": (_walk, "harness_engine_walk_walk_walk_block"),
}


class Warming:
    """Processes that compile; none where there is nothing to compile, or nowhere to keep it."""

    def __init__(self) -> None:
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-m", __name__, name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            for name, (_, kernel) in WARMED.items()
            if _COMPILES and cache_directory(KAFKA) is not None and not is_compiled(kernel, KAFKA)
        ]

    @property
    def goes_on(self) -> bool:
        """Whether something is being compiled."""
        return any(process.poll() is None for process in self._processes)

    def wait(self) -> None:
        """Wait until all is compiled. What a process failed to compile, this one compiles when it needs it."""
        for process in self._processes:
            process.wait()

    def stop(self) -> None:
        """Compile no more."""
        for process in self._processes:
            process.kill()
        self.wait()


if __name__ == "__main__":
    os.nice(10)  # what is shown meanwhile comes first
    WARMED[sys.argv[1]][0]()
