"""A run that is interrupted at a random moment leaves no process, and the resumed run ends as an uninterrupted run."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conform.running import ROOT, SUBJECT
from tests.processes import processes_with

INTERRUPTIONS = 20
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
PATIENCE = 15.0  # seconds until no process of an interrupted run is left
LIMIT = 1800.0  # seconds for a run
MARK = "EPOCHFUZZ_RUN"  # an environment variable that the processes of a run inherit
FINISHED = (0, 1)
BAD_INPUT = 2
MEASURED = ("seconds", "events_per_second", "steps_per_second", "transitions_per_second", "begun", "memory")
SAVED = "saved"  # a resumed run lists only the cases that it saves itself, so the test compares the files

DEFECTIVE = ("--", *SUBJECT, "--defect", "shrinking-does-not-advance")
ON_SPARK = ("--master", "local[1]")
COUNTER = """
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

class Counter(RuleBasedStateMachine):
    @rule(by=st.integers(0, 5))
    def add(self, by):
        if by == 5:
            raise OverflowError("5 is too much")
"""


@dataclass(frozen=True)
class Kind:
    """A kind of work: the words of its command, and the words that resume it, if they differ."""

    words: tuple[str, ...]
    resume: tuple[str, ...] | None = None


def kind(words: str, *more: str, resume: str | None = None) -> Kind:
    """Return a kind of work. The words that resume it name Spark if the words that begin it do."""
    on_spark = ON_SPARK if ON_SPARK[0] in more else ()
    return Kind((*words.split(), *more), None if resume is None else (*resume.split(), *on_spark))


EXHAUSTIVE = "conform --exhaustive --epochs 0 --certify 0 --processes-for 12"
RANDOM = "conform --certify 0 --seed 7 --schedules"
MACHINES = "--engine hypothesis --schedules 30 --seed 7 --machine counting:Counter"
KINDS = {
    "fuzz": kind("fuzz --protocol hw --schedules 300000 --seed 7 --jobs 1 --certify 0 --out kept"),
    "conform": kind(f"{RANDOM} 24 --processes-for 3 --jobs 2 --out kept", *DEFECTIVE),
    "conform-exhaustive": kind(f"{EXHAUSTIVE} --out kept", *DEFECTIVE),
    "explore": kind(
        "explore --protocol kip-320 --replicas 3 --records 2 --epochs 1 --jobs 1 --out kept",
        resume="explore --resume kept --jobs 1",
    ),
    "campaign-walk": kind(
        "campaign run --protocol hw --schedules 10000 --seed 7 --certify 0 --out kept",
        *ON_SPARK,
        resume="campaign resume kept --certify 0",
    ),
    "campaign-local": kind(
        "campaign run --protocol hw --schedules 500000 --seed 7 --certify 0 --jobs 2 --out kept",
        resume="campaign resume kept --certify 0 --jobs 2",
    ),
    "campaign-hypothesis": kind(
        f"campaign run {MACHINES} --out kept",
        *ON_SPARK,
        resume="campaign resume kept --machine counting:Counter",
    ),
    "conform-campaign": kind(f"{RANDOM} 12 --processes-for 3 --campaign kept", *ON_SPARK, *DEFECTIVE),
    "conform-exhaustive-campaign": kind(f"{EXHAUSTIVE} --campaign kept", *ON_SPARK, *DEFECTIVE),
    "explore-spark": kind(
        "explore --protocol kip-320 --depth 4 --memory 1 --out kept",
        *ON_SPARK,
        resume="explore --resume kept --memory 1",
    ),
}


class Run:
    """A command in a session of its own, in a directory. It prints a JSON document."""

    def __init__(self, directory: Path, words: tuple[str, ...]) -> None:
        self.directory = directory
        self._mark = uuid.uuid4().hex
        path = os.pathsep.join([str(ROOT), str(ROOT / "src"), str(directory)])
        with (directory / "printed").open("w") as out, (directory / "said").open("w") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "epochfuzz", words[0], *self._with_json(words[1:])],
                cwd=directory,
                env=os.environ | {"PYTHONPATH": path, MARK: self._mark},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @staticmethod
    def _with_json(words: tuple[str, ...]) -> list[str]:
        place = words.index("--") if "--" in words else len(words)
        return [*words[:place], "--json", *words[place:]]

    @property
    def said(self) -> str:
        return (self.directory / "said").read_text()

    def code_after(self, number: signal.Signals, seconds: float) -> int:
        """Send a signal to the process after some seconds, and return its exit code."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.send_signal(number)
            return self.process.wait(LIMIT)

    def leaves_nothing(self) -> None:
        until = time.monotonic() + PATIENCE
        while those := processes_with(MARK, self._mark):
            assert time.monotonic() < until, those
            time.sleep(0.1)

    def end(self) -> dict[str, Any]:
        """Return the document of a finished run without its times, and the case files."""
        document = without_times(json.loads((self.directory / "printed").read_text()))
        cases = (self.directory / "kept").rglob("*.yaml")
        return {"document": document, "cases": {case.name: case.read_text() for case in cases}}


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in (*MEASURED, SAVED)}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def new_directory(directory: Path) -> Path:
    directory.mkdir()
    (directory / "counting.py").write_text(COUNTER)
    return directory


def ended(directory: Path, asked: Kind) -> dict[str, Any]:
    """Resume the run in a directory, or begin it if there is nothing to resume. Returns its end."""
    for words in (asked.resume or asked.words, asked.words):
        run = Run(directory, words)
        code = run.process.wait(LIMIT)
        if code != BAD_INPUT or "holds no" not in run.said:
            break
    assert code in FINISHED, run.said
    run.leaves_nothing()
    return run.end()


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", KINDS)
def test_a_run_that_is_interrupted_at_random_moments_ends_as_an_uninterrupted_run(tmp_path: Path, name: str) -> None:
    asked = KINDS[name]
    draw = random.Random(name)
    ended(new_directory(tmp_path / "first"), Kind(asked.words))  # compiles, so that the next run has a usual duration
    began = time.monotonic()
    whole = ended(new_directory(tmp_path / "whole"), Kind(asked.words))
    duration = time.monotonic() - began
    for number in range(INTERRUPTIONS):
        sent, seconds = draw.choice(SIGNALS), draw.uniform(0, duration)
        run = Run(new_directory(tmp_path / str(number)), asked.words)
        code = run.code_after(sent, seconds)
        print(f"{name} {number}: {sent.name} after {seconds:.1f} s of {duration:.1f} s: exit code {code}")
        run.leaves_nothing()
        assert code in (*FINISHED, -sent, 128 + sent), run.said
        assert code == -signal.SIGINT or "Traceback" not in run.said  # Python itself ends so before epochfuzz begins
        assert (run.end() if code in FINISHED else ended(run.directory, asked)) == whole, run.said
