"""Run the model checker Spin on the design `kip-320`, to compare the speed of Spin with the speed of epochfuzz.

The module needs Spin and a C compiler. The Promela model (kip-320.pml) is written independently. A test checks that it
has as many states and transitions as epochfuzz's model, so neither model can be fast by doing less work.
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

# The Promela model is a single process, so partial-order reduction has nothing to reduce.
_BY_BREADTH = ("-DSAFETY", "-DBFS", "-DNOREDUCE")
_AT_RANDOM = ("-DSAFETY", "-DBITSTATE", "-DT_RAND", "-DNOREDUCE")
_NO_END_STATES = "-E"  # a state without enabled events, at the bounds, is not an error

# A verifier builds the initial state in steps of its own. `_read` subtracts these steps from Spin's numbers.
_STATES_BEFORE, _TRANSITIONS_BEFORE = 1, 2

_LEAST_SECONDS = 0.01  # resolution of the verifier's clock

_STATES = re.compile(r"(\d+) states, stored")
_TRANSITIONS = re.compile(r"(\d+) transitions")
_SECONDS = re.compile(r"elapsed time (\S+) seconds")
_VIOLATED_AT = re.compile(r"assertion violated.*\(at depth (\d+)\)")


@dataclass(frozen=True)
class Verified:
    """The statistics of a Spin run. `failure` is the number of events until an assertion failed (None: no failure)."""

    states: int
    transitions: int
    seconds: float
    failure: int | None

    @property
    def per_second(self) -> float:
        """Return the states per second. If the search is shorter than 0.01 s, the result is too low."""
        return self.states / max(self.seconds, _LEAST_SECONDS)


def missing() -> list[str]:
    """Return the commands that the module needs and that are not installed."""
    return [command for command in _NEEDED if shutil.which(command) is None]


def searched(settings: Configuration, *, truncates_to_high_watermark: bool = False) -> Verified:
    """Let Spin search every state breadth first. `truncates_to_high_watermark` adds the bug of KAFKA-1211."""
    return _run(_verifier(settings, _BY_BREADTH, truncates_to_high_watermark).name, [])


def walked(settings: Configuration, events: int, seed: int, seconds: int) -> Verified:
    """Let Spin search depth first in random order for `seconds` seconds. A schedule has at most `events` events."""
    until = ["timeout", "--signal", "INT", str(seconds)]
    return _run(_verifier(settings, _AT_RANDOM, False).name, [f"-m{events}", f"-RS{seed}", "-w30"], until)


@cache
def _verifier(settings: Configuration, options: Sequence[str], mistaken: bool) -> tempfile.TemporaryDirectory[str]:
    """Return the directory of a compiled Spin verifier for a configuration. Equal arguments share one directory.

    `mistaken` adds the bug of KAFKA-1211. The directory is removed when this process ends.
    """
    directory = tempfile.TemporaryDirectory(prefix="epochfuzz-spin-")
    Path(directory.name, "model.pml").write_text(_model(settings, mistaken), encoding="utf-8")
    for command in (["spin", "-a", "model.pml"], ["gcc", "-O2", "-w", *options, "-o", "pan", "pan.c"]):
        subprocess.run(command, cwd=directory.name, check=True, capture_output=True)
    return directory


def _model(settings: Configuration, mistaken: bool) -> str:
    templates = Environment(
        loader=PackageLoader("epochfuzz.harness.lab", "bench"),
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
    # At the timeout the verifier prints its results and exits with a status other than 0.
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
        raise RuntimeError(f"the Spin verifier printed no statistics: {said[-500:]}")
    return found[1]
