"""Fixtures for tests that start adapters."""

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conform.running import ROOT
from tests.processes import processes_with


@pytest.fixture
def living(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Return a function that lists the command lines, with a given text, of all live processes of this test.

    The function recognizes the processes by a variable in their environment, so other tests may run at the same time.
    """
    name, value = "CONFORM_TEST", uuid.uuid4().hex
    monkeypatch.setenv(name, value)

    def find(text: str = "") -> list[str]:
        return [line for pid, line in processes_with(name, value).items() if text in line and pid != os.getpid()]

    return find


@pytest.fixture
def epochfuzz(epochfuzz: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs `epochfuzz` in an empty directory from which the adapters of these tests can be started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))
    return epochfuzz
