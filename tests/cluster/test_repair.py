"""A repaired class precedes Kafka's jars on the class path; an error names the reason if a repair is impossible."""

from collections.abc import Callable
from pathlib import Path

import pytest

from epochfuzz.harness.cluster.broker import repair as repairs
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.broker.repair import Repair, repaired
from epochfuzz.harness.cluster.errors import ClusterError


@pytest.fixture(autouse=True)
def javassist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put an empty jar of Javassist into the cache."""
    kept = tmp_path / "cache" / "epochfuzz" / "kafka" / "javassist"
    kept.mkdir(parents=True)
    jar = kept / "javassist.jar"
    jar.touch()
    (kept / "classpath").write_text(f"{jar}\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return jar


def with_compiler(java: Path) -> None:
    (java.parent / "javac").write_text("")


@pytest.mark.parametrize("repair", Repair)
def test_the_repaired_class_precedes_the_jars_on_the_class_path(
    repair: Repair, javassist: Path, fake_java: Callable[..., Path], no_kafka: Installation, tmp_path: Path
) -> None:
    with_compiler(fake_java(runs=f'echo "$@" > {tmp_path / "words"}'))
    assert repaired(no_kafka, repair, tmp_path / "out").class_path == (str(tmp_path / "out"), "kafka.jar")
    words = (tmp_path / "words").read_text().split()
    assert words == ["-cp", f"{javassist}:kafka.jar", str(repairs._JAVA / "Repair.java"), repair, str(tmp_path / "out")]


def test_a_repair_raises_an_error_if_kafka_has_a_different_makeleader(
    fake_java: Callable[..., Path], no_kafka: Installation, tmp_path: Path
) -> None:
    with_compiler(fake_java(runs="echo makeLeader asks isLeader 2 times, and not once; exit 1"))
    with pytest.raises(ClusterError, match=r"4\.3\.1 cannot be repaired by --repair missed-epoch: makeLeader asks"):
        repaired(no_kafka, Repair.MISSED_EPOCH, tmp_path / "out")


def test_the_error_without_a_java_compiler_names_the_package_to_install(
    fake_java: Callable[..., Path], no_kafka: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match="javac is missing; run `sudo apt-get install openjdk-17-jdk-headless`"):
        repaired(no_kafka, Repair.EVERY_EPOCH, tmp_path / "out")
