"""Kafka comes from Maven or from a directory; an error names what to install if something is missing."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from epochfuzz.harness.cluster.broker import tools
from epochfuzz.harness.cluster.broker.installation import from_home, from_maven
from epochfuzz.harness.cluster.errors import ClusterError

MAVEN = """#!/bin/sh
for word in "$@"; do
    case $word in -Dmdep.outputFile=*) file=${{word#*=}} ;; esac
done
echo called >> {calls}
{does}
"""


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Return a function that puts a fake Maven on the path. It returns a file that gets a line for each call."""
    calls = tmp_path / "calls"
    calls.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def put(does: str) -> Path:
        command = tmp_path / "bin" / "mvn"
        command.parent.mkdir(exist_ok=True)
        command.write_text(MAVEN.format(calls=calls, does=does))
        command.chmod(0o755)
        monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
        return calls

    return put


def test_maven_fetches_a_release_only_once(maven: Callable[[str], Path], tmp_path: Path) -> None:
    jar = tmp_path / "kafka.jar"
    jar.touch()
    calls = maven(f'echo {jar} > "$file"')
    assert from_maven("4.3.1").class_path == (str(jar),)
    assert from_maven("4.3.1").release == "4.3.1"
    assert calls.read_text() == "called\n"


def test_maven_fetches_a_release_with_strict_checksums(maven: Callable[[str], Path], tmp_path: Path) -> None:
    maven(f'touch {tmp_path}/kafka.jar; echo {tmp_path}/kafka.jar > "$file"; echo "$@" > {tmp_path}/words')
    from_maven("4.3.1")
    assert "--strict-checksums" in (tmp_path / "words").read_text().split()


def test_every_call_of_maven_uses_strict_checksums() -> None:
    root = Path(__file__).parents[2]
    callers = [
        root / "tests/findings/kafka/__main__.py",
        root / "tests/systems/jvm/build.py",
        root / "harness/cluster/broker/installation.py",
    ]
    assert [file.read_text().count("--strict-checksums") for file in callers] == [1, 1, 1]


def test_maven_fetches_a_release_again_if_the_jar_was_removed(maven: Callable[[str], Path], tmp_path: Path) -> None:
    jar = tmp_path / "kafka.jar"
    calls = maven(f'touch {jar}; echo {jar} > "$file"')
    from_maven("4.3.1")
    jar.unlink()
    from_maven("4.3.1")
    assert calls.read_text() == "called\n" * 2


def test_the_error_names_a_release_that_maven_cannot_find(maven: Callable[[str], Path]) -> None:
    maven("echo '[ERROR] ... Could not find artifact org.apache.kafka:kafka_2.13:jar:9.9.9 in central (x)'; exit 1")
    expected = (
        r"Maven could not fetch Kafka 9\.9\.9: Could not find artifact org\.apache\.kafka:kafka_2\.13:jar:9\.9\.9;"
    )
    with pytest.raises(ClusterError, match=expected):
        from_maven("9.9.9")


@pytest.mark.parametrize("release", ["", "4", "trunk", "../4.3.1"])
def test_an_invalid_release_name_is_an_error_before_maven_runs(release: str, maven: Callable[[str], Path]) -> None:
    calls = maven("exit 1")
    with pytest.raises(ClusterError, match=r"the release must have a name such as 4\.3\.1; got"):
        from_maven(release)
    assert calls.read_text() == ""


def test_the_error_without_maven_names_the_package_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match="mvn is missing; run `sudo apt-get install maven`"):
        from_maven("4.3.1")


def test_from_home_reads_the_release_from_the_name_of_the_kafka_jar(tmp_path: Path) -> None:
    (tmp_path / "libs").mkdir()
    for name in ("kafka-clients-4.3.1-mine.jar", "kafka_2.13-4.3.1-mine-test.jar", "kafka_2.13-4.3.1-mine.jar"):
        (tmp_path / "libs" / name).touch()
    kafka = from_home(tmp_path)
    assert kafka.release == "4.3.1-mine"
    assert kafka.class_path == (str(tmp_path / "libs" / "*"),)
    assert kafka.preceded_by(Path("repaired")).class_path == ("repaired", str(tmp_path / "libs" / "*"))


def test_from_home_raises_an_error_for_a_directory_without_kafka(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"has no Kafka, because libs/kafka_2\.13-VERSION\.jar is missing"):
        from_home(tmp_path)


@pytest.mark.parametrize(("version", "said"), [("11.0.22", "is Java 11"), ("1.8.0_402", "is Java 8")])
def test_the_error_for_an_old_java_names_the_version(version: str, said: str, fake_java: Callable[..., Path]) -> None:
    fake_java(version=version)
    with pytest.raises(ClusterError, match=rf"{said}, but Kafka needs 17 or later; run `sudo apt-get install"):
        tools.java()


@pytest.mark.parametrize("version", ["17", "21-ea", "25.0.1"])
def test_java_17_and_later_versions_are_accepted(version: str, fake_java: Callable[..., Path]) -> None:
    java = fake_java(version=version)
    assert tools.java() == str(java)


def test_the_error_without_java_names_the_package_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools.java.cache_clear()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match="java is missing; run `sudo apt-get install openjdk-17-jre-headless`"):
        tools.java()
