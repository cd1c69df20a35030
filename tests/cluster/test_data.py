"""`--keep-data`: copies of the data directories, as the cluster ends and from before each restart."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cluster.broker import cluster as clusters
from epochfuzz.harness.cluster.broker.cluster import Cluster, running
from epochfuzz.harness.cluster.broker.data import Copies
from epochfuzz.harness.cluster.broker.installation import Installation


def replica(data: Path, content: str) -> Path:
    directory = data / "t-0"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{0:020d}.log").write_text(content)
    (directory / f"{0:020d}.index").write_bytes(bytes(10))
    (data / ".lock").touch()
    return data


def test_a_copy_of_the_data_omits_indexes_and_the_lock_file(tmp_path: Path) -> None:
    Copies(tmp_path / "kept").at_the_end([("A", replica(tmp_path / "A", "batch")), ("B", tmp_path / "missing")])

    copied = sorted(str(file.relative_to(tmp_path / "kept")) for file in (tmp_path / "kept").rglob("*"))
    assert copied == ["A", "A/t-0", f"A/t-0/{0:020d}.log"]


def test_the_cluster_copies_its_data_before_each_restart_and_at_the_end(
    tmp_path: Path, no_kafka: Installation, fake_java: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java()
    monkeypatch.setattr(clusters, "accepts", lambda port: True)
    with running(Cluster(no_kafka, tmp_path, tmp_path / "logs"), tmp_path / "kept") as cluster:
        broker = cluster.brokers["A"]
        for content in ("first", "second"):
            replica(broker.data, content)
            broker.kill()
            broker.start()
        replica(broker.data, "third")

    logs = {name: tmp_path / "kept" / name / "t-0" / f"{0:020d}.log" for name in ("A-before-restart-1", "A")}
    assert (tmp_path / "kept" / "A-before-restart-2" / "t-0" / f"{0:020d}.log").read_text() == "second"
    assert {name: log.read_text() for name, log in logs.items()} == {"A-before-restart-1": "first", "A": "third"}


@pytest.mark.parametrize("command", [("run", "re-elected-leader"), ("replay", "m1-loss")])
def test_the_option_keep_data_needs_the_option_out(command: tuple[str, ...], epochfuzz: Any) -> None:
    ended = epochfuzz("cluster", *command, "--keep-data")

    assert ended.code == 2
    assert "--keep-data needs --out DIR" in ended.err
