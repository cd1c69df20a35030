"""A long run shows its progress: in one line on a terminal, otherwise in lines on standard error."""

import io
import time
from collections.abc import Iterable
from typing import Any

import pytest
from rich.console import Console

from epochfuzz.harness.views.progress import show_search


@pytest.fixture
def shown_at(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    """Return a function that reports progress at given seconds of a run, and returns the lines on standard error."""

    def report(moments: Iterable[float], out: Console) -> list[str]:
        clock = [0.0]
        with show_search(out) as progress:
            monkeypatch.setattr(time, "monotonic", lambda: clock[0])
            progress._began = 0.0
            for clock[0] in moments:
                progress.doing(f"{clock[0]:.0f} seconds")
            monkeypatch.undo()
        return capfd.readouterr().err.splitlines()

    return report


def test_a_run_without_a_terminal_prints_its_progress_on_standard_error_at_growing_intervals(shown_at: Any) -> None:
    lines = shown_at(range(60), Console(file=io.StringIO()))
    assert lines == ["10 seconds", "15 seconds", "23 seconds", "35 seconds", "53 seconds"]


def test_a_run_of_ten_seconds_prints_no_progress_without_a_terminal(shown_at: Any) -> None:
    assert shown_at(range(10), Console(file=io.StringIO())) == []


def test_a_run_on_a_terminal_prints_no_progress_on_standard_error(shown_at: Any) -> None:
    assert shown_at([100.0], Console(file=io.StringIO(), force_terminal=True)) == []
