"""docs/conformance.md: its commands are run, its messages and its Python are understood."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.conform import wire
from model.configuration import Configuration
from tests.conform.reference import Reference
from tests.conform.running import ROOT, failures

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall((ROOT / "docs" / "conformance.md").read_text(encoding="utf-8"))


def blocks(language: str) -> list[str]:
    return [text for named, text in BLOCKS if named == language]


def assert_printed(printed: str, promised: str) -> None:
    """Each line promised was printed, in that order; `...` stands for anything, on a line of its own for any lines."""
    lines = iter(printed.splitlines())
    for line in promised.splitlines():
        pattern = re.escape(line.rstrip()).replace(r"\.\.\.", ".*")
        assert line == "..." or any(re.fullmatch(pattern, each.rstrip()) for each in lines), line


def commands() -> Iterator[tuple[list[str], str]]:
    """The words of each command that is shown, and what it is said to print."""
    for (language, command), (following, promised) in zip(BLOCKS, [*BLOCKS[1:], ("", "")], strict=True):
        if language == "sh":
            program, *words = shlex.split(command)
            assert program == "epochfuzz"
            yield words, promised if following == "text" else ""


@pytest.fixture
def checkout(epochfuzz: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs `epochfuzz` in a directory that has what the commands name."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("corpus", "tests"):
        Path(name).symlink_to(ROOT / name)
    Path("my-subject").write_text("#!/bin/sh\nexec python -m tests.conform.reference\n")
    Path("my-subject").chmod(0o755)
    return epochfuzz


@pytest.mark.skipif(shutil.which("node") is None and os.environ.get("CI") != "true", reason="node is not installed")
def test_its_commands_print_what_it_says(checkout: Any) -> None:
    here = [(words, promised) for words, promised in commands() if "--campaign" not in words]
    assert len(here) == 5
    for words, promised in here:
        ended = checkout(*words)
        assert ended.code == ("--defect" in words), ended.err
        assert_printed(ended.out, promised)


@pytest.mark.slow
@pytest.mark.usefixtures("checkout")
def test_its_campaign_prints_what_it_says() -> None:
    ((words, promised),) = [(words, promised) for words, promised in commands() if "--campaign" in words]
    for _ in ("begun", "gone on with"):
        ended = subprocess.run(["epochfuzz", *words], capture_output=True, text=True, timeout=300, check=False)
        assert ended.returncode == 0, ended.stderr
        assert_printed(ended.stdout, promised)


def test_its_messages_are_those_of_the_protocol() -> None:
    reset, ready, unable, event, applied = blocks("json")
    assert json.loads(reset) == json.loads(wire.reset_request(wire.config_of(Configuration()), "kip-320"))
    assert wire.parse_reset_reply(ready.encode())["ok"]
    assert not wire.parse_reset_reply(unable.encode())["ok"]
    assert json.loads(event) == json.loads(wire.event_request("fetch B"))
    assert set(wire.parse_event_reply(applied.encode())) == {"applied", "observation"}


def test_its_python_makes_a_test_case() -> None:
    subject, test = blocks("python")
    names: dict[str, Any] = {}
    exec(subject, names)
    assert {name for name in vars(names["MyLog"]) if not name.startswith("_")} == {"reset", "apply", "observe"}
    names["MyLog"] = Reference
    exec(test, names)
    assert failures(names["TestMyLog"], examples=5) == []
