"""Run adapters from tests."""

import os
import sys
import unittest
from pathlib import Path
from typing import Any

from hypothesis import settings as hypothesis_settings

from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance, run
from epochfuzz.harness.conform.run.workers import Processes
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

ROOT = Path(__file__).parents[2]
SUBJECT = (sys.executable, "-m", "tests.conform.subject")
REFERENCE = (sys.executable, "-m", "tests.conform.reference")
WRONG = (sys.executable, "-m", "tests.conform.wrong")
OWN = (sys.executable, "-m", "tests.conform.own")
HOSTILE = (sys.executable, "-I", "-S", str(Path(__file__).parent / "hostile" / "hostile.py"))


def conform(
    command: tuple[str, ...],
    protocol: str = "kip-320",
    schedules: int = 20,
    seed: int = 1,
    jobs: int = 1,
    **arguments: Any,
) -> Conformance:
    """Run random schedules on an adapter. `arguments` are fields of Plan or settings of the partition."""
    of_plan = {key: arguments.pop(key) for key in list(arguments) if key in Plan.__dataclass_fields__}
    plan = Plan(
        command=command,
        protocols=[parse_protocol(protocol)],
        settings=Configuration(**arguments),
        schedules=schedules,
        seed=seed,
        **of_plan,
    )
    return run(plan, Processes(jobs))


def reproducer(conformance: Conformance) -> list[str]:
    """Return the events of the first nonconformity."""
    return schedule_texts(conformance.nonconformities[0].sighting.sent)


def failures(test: Any, examples: int = 30) -> list[str]:
    """Run a test case. Returns the text of each failure, with Hypothesis's steps."""
    test.settings = hypothesis_settings(test.settings, max_examples=examples, derandomize=True, database=None)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(test).run(result)
    assert result.testsRun == 1
    return [text for _, text in (*result.failures, *result.errors)]


def zombies() -> list[str]:
    """Return the zombie children of this process, as /proc lists them."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            text = (process / "stat").read_text()
        except OSError:
            continue
        state, parent = text.rpartition(")")[2].split()[:2]
        if (state, parent) == ("Z", str(os.getpid())):
            found.append(text)
    return found
