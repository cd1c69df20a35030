"""The tests draw what the profile `ci` draws; `--hypothesis-profile` names another."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from epochfuzz.harness import cli
from epochfuzz.strategies import profiles

profiles.register()
settings.load_profile("ci")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In parallel, a file's tests stay together for what they share, and those of campaigns for their Spark session."""
    for item in items:
        shared = "campaign" if "campaign" in item.path.relative_to(Path(__file__).parent).parts else str(item.path)
        item.add_marker(pytest.mark.xdist_group(shared))


class Ended(NamedTuple):
    """How the command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


@pytest.fixture
def epochfuzz(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Runs `epochfuzz` in this process."""

    def run(*words: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["epochfuzz", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return Ended(int(ended.value.code or 0), *capfd.readouterr())

    return run
