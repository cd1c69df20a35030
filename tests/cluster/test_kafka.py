"""Real clusters: Kafka loses the record, and a repaired Kafka keeps it. The tests need Java, Maven and minutes."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(autouse=True)
def has_what_kafka_needs() -> None:
    if not (shutil.which("mvn") and shutil.which("javac")) and os.environ.get("CI") != "true":
        pytest.skip("a JDK and Maven are not installed")


def test_a_release_loses_a_record_that_was_acknowledged_and_read(epochfuzz: Any, tmp_path: Path) -> None:
    ended = epochfuzz("cluster", "run", "re-elected-leader", "--out", tmp_path / "kept", "--json")
    assert ended.code == 0, ended.err
    (run,) = ended.json["runs"]
    assert run["verdict"] == "LOST"
    assert {"m", "y"} <= {loss["value"] for loss in run["lost"] if loss["was_read"]}
    logs = tmp_path / "kept" / "run-1"
    assert {path.name for path in logs.iterdir()} == {
        "A.log",
        "B.log",
        "C.log",
        "controller.log",
        "run.json",
        "timeline.html",
    }
    assert "LOST: 2 of" in (logs / "timeline.html").read_text()


@pytest.mark.parametrize("repair", ["every-epoch", "missed-epoch"])
def test_a_repaired_kafka_keeps_the_record(repair: str, epochfuzz: Any) -> None:
    ended = epochfuzz("cluster", "run", "re-elected-leader", "--repair", repair, "--json")
    assert ended.code == 0, ended.err
    assert ended.json["kept"] == 1
