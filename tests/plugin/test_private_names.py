"""The names that Hypothesis does not promise: where they are used, and what happens if a version lacks them."""

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


def test_one_file_has_all_private_names_of_hypothesis() -> None:
    files = [file for folder in ("model", "strategies", "harness") for file in (ROOT / folder).rglob("*.py")]
    using = {file.name for file in files if PRIVATE.search(file.read_text(encoding="utf-8"))}
    assert using == {"private_hypothesis.py"}


def test_without_the_saved_form_of_choices_a_schedule_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert simplest(b"\2\1", [1, 2], lambda schedule: 2 in schedule, 50) == b"\2"
    monkeypatch.delattr(database, "choices_to_bytes")
    assert private_hypothesis.saved_form([True]) is None
    assert simplest(b"\2\1", [1, 2], lambda schedule: 2 in schedule, 50) == b"\2\1"


def test_an_object_without_a_state_machine_has_none() -> None:
    assert private_hypothesis.machine_of(object()) is None
