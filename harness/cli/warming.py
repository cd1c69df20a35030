"""Compile kernels in parallel processes, if this machine has not compiled them before.

Kernels are the functions of the model and the engine that Numba compiles to machine code. The command
`python -m epochfuzz.harness.cli.warming NAME` compiles the kernels for `search` or for `walk` into the cache on disk.
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
    explore(_PROTOCOL, settings, properties.named("isr-complete").bit)  # compiles finding and retracing
    explore(_PROTOCOL, settings, 0)  # compiles the growth of a table


# For each name, the function that compiles the kernels, and a kernel that exists only after this function has run.
WARMED: dict[str, tuple[Callable[[], None], str]] = {
    "search": (_search, "harness_engine_explore_expansion_expand"),
    "walk": (_walk, "harness_engine_walk_walk_walk_block"),
}


class Warming:
    """Processes that compile kernels (the functions that Numba compiles). The constructor starts the processes.

    No process starts if all kernels are compiled, or without a cache directory.
    """

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
        """True while at least one process compiles."""
        return any(process.poll() is None for process in self._processes)

    def wait(self) -> None:
        """Wait until all processes end.

        If a process failed to compile a kernel, the current process compiles this kernel on first use.
        """
        for process in self._processes:
            process.wait()

    def stop(self) -> None:
        """Kill the processes."""
        for process in self._processes:
            process.kill()
        self.wait()


if __name__ == "__main__":
    os.nice(10)  # the visible output has priority
    WARMED[sys.argv[1]][0]()
