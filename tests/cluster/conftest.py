"""A fake Java, which prints a version, logs, and runs until a signal ends it, as Kafka does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from epochfuzz.harness.cluster.broker import tools
from epochfuzz.harness.cluster.broker.installation import Installation

JAVA = """#!/bin/sh
case "$*" in
    -version) echo 'openjdk version "{version}" 2025-04-15' >&2 ;;
    *StorageTool*) exit {formats} ;;
    *) {runs} ;;
esac
"""


@pytest.fixture
def fake_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return a function that puts a fake Java under JAVA_HOME."""

    def put(version: str = "17.0.15", runs: str = "exec sleep 600", formats: int = 0) -> Path:
        java = tmp_path / "jdk" / "bin" / "java"
        java.parent.mkdir(parents=True, exist_ok=True)
        java.write_text(JAVA.format(version=version, runs=runs, formats=formats))
        java.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
        tools.java.cache_clear()
        return java

    return put


@pytest.fixture
def no_kafka() -> Installation:
    return Installation("4.3.1", ("kafka.jar",))
