"""Spin beside exhaustive search and walks: the same protocol in Promela, verified in C, where Spin and a compiler are.

The Promela model is one of its own (kip-320.pml). A test has it visit as many states by as many transitions as the
model does, so that neither is fast by doing less.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from epochfuzz.model.kafka.vocabulary.configuration import Configuration

PROTOCOL = "kip-320"
_NEEDED = ("spin", "gcc")

# A state is one process, so there is nothing to reduce by partial order.
_BY_BREADTH = ("-DSAFETY", "-DBFS", "-DNOREDUCE")
_AT_RANDOM = ("-DSAFETY", "-DBITSTATE", "-DT_RAND", "-DNOREDUCE")
_NO_END_STATES = "-E"  # that nothing can happen any more, past the bounds, is no error

# Before its first event a verifier makes the state from which the model's search starts.
_STATES_BEFORE, _TRANSITIONS_BEFORE = 1, 2

_LEAST_SECONDS = 0.01  # of what it counts

_STATES = re.compile(r"(\d+) states, stored")
_TRANSITIONS = re.compile(r"(\d+) transitions")
_SECONDS = re.compile(r"elapsed time (\S+) seconds")
_VIOLATED_AT = re.compile(r"assertion violated.*\(at depth (\d+)\)")


@dataclass(frozen=True)
class Verified:
    """What a verifier did: states and transitions, seconds, and the events of a failure, if there is one."""

    states: int
    transitions: int
    seconds: float
    failure: int | None

    @property
    def per_second(self) -> float:
        """States per second, or what comes near where it took less than is counted."""
        return self.states / max(self.seconds, _LEAST_SECONDS)


def missing() -> list[str]:
    """Return the commands that are needed and not there."""
    return [command for command in _NEEDED if shutil.which(command) is None]


def searched(settings: Configuration, *, truncates_to_high_watermark: bool = False) -> Verified:
    """Search every state by breadth. `truncates_to_high_watermark` plants the mistake of KAFKA-1211."""
    return _run(_verifier(settings, _BY_BREADTH, truncates_to_high_watermark).name, [])


def walked(settings: Configuration, events: int, seed: int, seconds: int) -> Verified:
    """Search depth first in random order, schedules of at most so many events, for so many seconds."""
    until = ["timeout", "--signal", "INT", str(seconds)]
    return _run(_verifier(settings, _AT_RANDOM, False).name, [f"-m{events}", f"-RS{seed}", "-w30"], until)


@cache
def _verifier(settings: Configuration, options: Sequence[str], mistaken: bool) -> tempfile.TemporaryDirectory[str]:
    """Return the directory of the verifier within some bounds, compiled once; it is removed as this process ends."""
    directory = tempfile.TemporaryDirectory(prefix="epochfuzz-spin-")
    Path(directory.name, "model.pml").write_text(_model(settings, mistaken), encoding="utf-8")
    for command in (["spin", "-a", "model.pml"], ["gcc", "-O2", "-w", *options, "-o", "pan", "pan.c"]):
        subprocess.run(command, cwd=directory.name, check=True, capture_output=True)
    return directory


def _model(settings: Configuration, mistaken: bool) -> str:
    templates = Environment(
        loader=PackageLoader("epochfuzz.harness", "bench"),
        undefined=StrictUndefined,
        trim_blocks=True,
        autoescape=False,
    )
    return templates.get_template(f"{PROTOCOL}.pml").render(
        replicas=settings.replicas, records=settings.records, epochs=settings.epochs,
        everyone=range(settings.replicas), all_epochs=range(settings.epochs + 1),
        truncates_to_high_watermark=mistaken,
    )  # fmt: skip


def _run(directory: str, options: Sequence[str], until: Sequence[str] = ()) -> Verified:
    # Past its time it ends with a status that is not 0, having said what it did.
    command = [*until, "./pan", _NO_END_STATES, *options]
    return _read(subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False).stdout)


def _read(said: str) -> Verified:
    violated = _VIOLATED_AT.search(said)
    return Verified(
        int(_found(_STATES, said)) - _STATES_BEFORE, int(_found(_TRANSITIONS, said)) - _TRANSITIONS_BEFORE,
        float(_found(_SECONDS, said)), int(violated[1]) if violated else None,
    )  # fmt: skip


def _found(pattern: re.Pattern[str], said: str) -> str:
    found = pattern.search(said)
    if found is None:
        raise RuntimeError(f"a verifier of Spin ended otherwise than expected: {said[-500:]}")
    return found[1]
