"""A run with a randomly misbehaving adapter never hangs, never ends in a traceback, and loses no finding."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.conform.protocol import subject
from epochfuzz.harness.conform.run import attempts
from tests.conform.running import zombies

RANDOM = (sys.executable, "-I", "-S", str(Path(__file__).with_name("random_hostile.py")))
PATIENCE = 0.3  # seconds for a reply
LONGEST = 120.0  # seconds that a run may take on a busy machine


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the time to shrink and to start an adapter, because the length of findings does not matter here."""
    monkeypatch.setattr(attempts, "MOST_ATTEMPTS", 10)
    monkeypatch.setattr(subject, "START_PATIENCE", 5.0)


def assert_reported(epochfuzz: Any, number: int, judge: str) -> None:
    """Run the adapter with this number, and check that conform reports its misbehaviour."""
    notes, started = Path(f"notes-{number}"), time.monotonic()
    words = ("--schedules", "4", "--seed", str(number), "--judge", judge, "--timeout", str(PATIENCE))
    ended = epochfuzz("conform", *words, "--", *RANDOM, str(number), str(notes.absolute()))
    assert time.monotonic() - started < LONGEST
    assert "Traceback" not in ended.err
    assert ended.code in (0, 1, 2, 4)
    if ended.code == 2:
        assert "the system under test cannot run this protocol and configuration" in ended.err
    if notes.exists():
        # No guarantee is about the controller's epoch, in which an adapter may differ by process.
        says_nothing = judge == "promises" and "This run checked nothing" in ended.out
        assert says_nothing or ended.code in (1, 2), f"overlooked: {notes.read_text().split()}"


def run_each(epochfuzz: Any, numbers: range, living: Callable[[str], list[str]]) -> None:
    for number in numbers:
        judge = ("lock-step", "promises")[number % 2]
        try:
            assert_reported(epochfuzz, number, judge)
            assert living("random_hostile") == []
        except AssertionError as error:
            raise AssertionError(f"adapter {number}, checked by {judge}: {error}") from error
    assert zombies() == []


@pytest.mark.thorough
def test_conform_survives_a_dozen_random_hostile_adapters(epochfuzz: Any, living: Callable[[str], list[str]]) -> None:
    run_each(epochfuzz, range(12), living)


@pytest.mark.slow
@pytest.mark.timeout(14_400)
def test_conform_survives_a_thousand_random_hostile_adapters(
    epochfuzz: Any, living: Callable[[str], list[str]]
) -> None:
    run_each(epochfuzz, range(1_000), living)
