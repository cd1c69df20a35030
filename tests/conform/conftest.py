"""Fixtures for tests that start subjects."""

import json
import os
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import cli
from tests.conform.running import ROOT


@pytest.fixture
def living(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """The command lines that have a text in them of living processes that this test has started, children included.

    They are known by an entry in their environment, so that other tests may run at the same time.
    """
    name, value = "CONFORM_TEST", uuid.uuid4().hex
    monkeypatch.setenv(name, value)

    def find(text: str = "") -> list[str]:
        found = []
        for directory in Path("/proc").glob("[0-9]*"):
            try:
                environment = (directory / "environ").read_bytes().split(b"\0")
                line = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if f"{name}={value}".encode() in environment and text in line and int(directory.name) != os.getpid():
                found.append(line)
        return found

    return find


class Ended:
    """How the command ended, and what it printed."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


@pytest.fixture
def epochfuzz(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Runs `epochfuzz` in an empty directory from which the subjects of these tests can be started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["epochfuzz", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return Ended(int(ended.value.code or 0), captured.out, captured.err)

    return run
