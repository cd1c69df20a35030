"""Measure whole commands: the time until `fuzz` has certified a schedule, and the speed of a campaign on Spark.

The processes have several threads, so the benchmark measures wall-clock time. The machine must run nothing else.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epochfuzz.harness.cli.first_finding import SHOWN
from epochfuzz.harness.lab.bench.spread import Spread
from epochfuzz.harness.lab.bench.throughput import PROTOCOL, SETTINGS

_EPOCHFUZZ = (sys.executable, "-c", "from epochfuzz.harness.cli.main import main; main()")
_LOST_RECORD = ("fuzz", "--protocol", "hw", "--schedules", "1000", "--seed", "7", "--json")


@dataclass(frozen=True)
class ColdStart:
    """Seconds until `epochfuzz fuzz --protocol hw` has found and certified a shortest schedule that loses a record.

    `cold` is the time with an empty cache of compiled code, and `warm` the time with a full cache. `first` is the time,
    with an empty cache, until the command shows its first finding. The command shows this finding while it compiles.
    """

    first: float
    cold: float
    warm: Spread


@dataclass(frozen=True)
class SparkEfficiency:
    """Events per second of `fuzz --jobs N`, and of a campaign with N cores.

    `ratio` is the campaign's speed divided by the speed of `fuzz`.
    """

    cores: int
    schedules: int
    fuzz: Spread
    campaign: Spread
    ratio: Spread


def cold_start(rounds: int) -> ColdStart:
    """Measure `fuzz --protocol hw` with an empty cache of compiled code, and then `rounds` times with a full cache."""
    with tempfile.TemporaryDirectory(prefix="epochfuzz-bench-") as cache:
        first = first_finding({"XDG_CACHE_HOME": cache})
    with tempfile.TemporaryDirectory(prefix="epochfuzz-bench-") as cache:
        seconds = []
        for _ in range(rounds + 1):
            started = time.monotonic()
            document = run(_LOST_RECORD, {"XDG_CACHE_HOME": cache})
            seconds.append(time.monotonic() - started)
            lost = next(found for found in document["findings"] if found["property"] == "no-committed-loss")
            assert lost["certified_minimal"]
            assert lost["length"] == 9
    return ColdStart(first, seconds[0], Spread.of(seconds[1:]))


def first_finding(environment: dict[str, str]) -> float:
    """Run `fuzz` until it shows its first finding, and then end `fuzz`. Returns the seconds until the finding.

    `environment` has variables that are added to the environment of this process.
    """
    started = time.monotonic()
    running = subprocess.Popen(
        [*_EPOCHFUZZ, *_LOST_RECORD], env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert running.stderr is not None
    with running:
        said = any(SHOWN in line for line in running.stderr)
        seconds = time.monotonic() - started
        running.send_signal(signal.SIGINT)
    if not said:
        raise RuntimeError("epochfuzz fuzz showed nothing while it compiled")
    return seconds


def spark_efficiency(schedules: int, rounds: int) -> SparkEfficiency:
    """Run the same schedules with `fuzz` in threads and with a campaign on Spark, in turns, without start-up times."""
    cores = os.cpu_count() or 1
    walked, campaigned = [], []
    for number in range(rounds):
        what = ["--protocol", PROTOCOL.name, "--replicas", str(SETTINGS.replicas)]
        what += ["--schedules", str(schedules), "--seed", str(number), "--json"]
        walked.append(run(["fuzz", *what, "--jobs", str(cores)])["events_per_second"])
        with tempfile.TemporaryDirectory(prefix="epochfuzz-bench-") as directory:
            out = str(Path(directory) / "campaign")
            document = run(["campaign", "run", "--out", out, "--master", f"local[{cores}]", *what])
            campaigned.append(document["events_per_second"])
    ratio = [one / other for one, other in zip(campaigned, walked, strict=True)]
    return SparkEfficiency(cores, schedules, Spread.of(walked), Spread.of(campaigned), Spread.of(ratio))


def run(arguments: Sequence[str], environment: dict[str, str] | None = None) -> dict[str, Any]:
    """Run an epochfuzz command, and return its JSON document.

    Raises RuntimeError with the command's error output if the exit code is above 1.
    """
    done = subprocess.run(
        [*_EPOCHFUZZ, *arguments], env=os.environ | (environment or {}), capture_output=True, text=True, check=False
    )
    if done.returncode > 1:
        raise RuntimeError(f"epochfuzz {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document
