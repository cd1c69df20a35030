"""epochfuzz uses private names of Hypothesis in a single file, and works with versions that lack the names."""

import re
from pathlib import Path

import pytest
from hypothesis import database

from epochfuzz.harness.engine.shrink.simplest import simplest
from epochfuzz.strategies import private_hypothesis

ROOT = Path(__file__).parents[2]
PRIVATE = re.compile(
    r"\b_?hypothesis_internal\w*|\b_hypothesis\w*|\bhypothesis\.(internal|strategies\._|_)\w*"
    r"|\b_rules_strategy\b|\barguments_strategies\b|\bchoices_to_bytes\b"
)


def test_only_private_hypothesis_py_uses_private_names_of_hypothesis() -> None:
    files = [file for folder in ("model", "strategies", "harness") for file in (ROOT / folder).rglob("*.py")]
    using = {file.name for file in files if PRIVATE.search(file.read_text(encoding="utf-8"))}
    assert using == {"private_hypothesis.py"}


def test_simplest_returns_the_schedule_unchanged_if_hypothesis_lacks_choices_to_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert simplest(b"\2\1", [1, 2], lambda schedule: 2 in schedule, 50) == b"\2"
    monkeypatch.delattr(database, "choices_to_bytes")
    assert private_hypothesis.saved_form([True]) is None
    assert simplest(b"\2\1", [1, 2], lambda schedule: 2 in schedule, 50) == b"\2\1"


def test_machine_of_returns_none_for_an_object_without_a_state_machine() -> None:
    assert private_hypothesis.machine_of(object()) is None
