"""Measure the processor time of short commands when everything is compiled, compared with a bare `import numba`.

A ratio compares two times of the same round. The processes of a round take turns, so a busy machine slows all of them
by the same factor.
"""

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from epochfuzz.harness.cases.case import Case, Expectation, dump_case
from epochfuzz.harness.cases.verdict import rewritten
from epochfuzz.harness.lab.bench.spread import Spread
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule

_EPOCHFUZZ = (sys.executable, "-c", "from epochfuzz.harness.cli.main import main; main()")
_BARE = (sys.executable, "-c", "import numba")
_FILE = "case.yaml"
_CASE = Case(
    "cut", "A record is truncated.", Configuration(),
    parse_schedule(["produce A", "fetch B", "receive B", "fetch B", "crash B", "restart B", "notify B", "elect B"]),
    expect={"hw": Expectation(()), "kip-101": Expectation(())},
)  # fmt: skip
COMMANDS = (
    ("--version",),
    ("explain", "no-committed-loss"),
    ("replay", _FILE),
    ("fuzz", "--protocol", "hw", "--schedules", "20000", "--seed", "7"),
)


@dataclass(frozen=True)
class Started:
    """The processor time of a command: in seconds, and as a multiple of the time of `import numba`."""

    words: tuple[str, ...]
    seconds: Spread
    ratio: Spread


def measure(rounds: int) -> list[Started]:
    """Run every command once in each round. A first round, which compiles the code, does not count."""
    seconds: dict[tuple[str, ...], list[float]] = {}
    bare: list[float] = []
    with tempfile.TemporaryDirectory(prefix="epochfuzz-bench-") as directory:
        Path(directory, _FILE).write_text(dump_case(rewritten(_CASE)), encoding="utf-8")
        for number in range(rounds + 1):
            took = {words: _seconds((*_EPOCHFUZZ, *words), directory) for words in COMMANDS}
            import_alone = _seconds(_BARE, directory)
            if number:
                bare.append(import_alone)
                for words, each in took.items():
                    seconds.setdefault(words, []).append(each)
    return [
        Started(words, Spread.of(took), Spread.of([one / other for one, other in zip(took, bare, strict=True)]))
        for words, took in seconds.items()
    ]


def _seconds(command: tuple[str, ...], directory: str) -> float:
    """Run a command, and return its processor time in seconds. Raises RuntimeError if the exit code is above 1."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, cwd=directory, env=os.environ, capture_output=True, check=False)
    if ended.returncode > 1:
        raise RuntimeError(f"{' '.join(command)} ended with {ended.returncode}: {ended.stderr.decode()[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
