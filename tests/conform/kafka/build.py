"""Builds the subject for a release, once: Maven fetches Kafka's jars, and javac compiles the adapter against them.

Not Maven's compiler: the poms of later releases call their own jars `runtime`, and it would have none of them.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conform.kafka.releases import Adapter, adapter

HERE = Path(__file__).parent
TARGET = HERE / "target"
_JAVA = "17"
_JDK = f"openjdk-{_JAVA}-jdk-headless"
_RESOURCES = HERE / "resources"


class BuildError(Exception):
    """The subject cannot be built; the message says why, and what to do."""


def class_path(release: str, version: str | None = None) -> str:
    """The class path of the subject for a release; it is built first, if need be. Raises BuildError and ReleaseError.

    `version` is the version of Kafka's artifact, if it is not the release itself: somebody's own build, say.
    """
    version = version or release
    chosen = adapter(release)
    target = TARGET / version
    with _alone(target):
        stamp = target / "stamp"
        wanted = _digest(chosen)
        if not stamp.exists() or stamp.read_text() != wanted:
            _build(version, chosen)
            stamp.write_text(wanted)
    return os.pathsep.join([str(target / "classes"), str(_RESOURCES), _jars(version)])


def patched(path: str, classes: Path) -> str:
    """The class path with a directory of classes before it. Raises BuildError if there are none."""
    if not any(classes.rglob("*.class")):
        raise BuildError(f"{classes}: there is no *.class; name the directory that holds kafka/ or org/")
    return os.pathsep.join([str(classes.resolve()), path])


def java() -> str:
    """The java command. Raises BuildError."""
    return _tool("java", _JDK)


def missing() -> list[str]:
    """What has to be installed before anything can be built, one sentence each."""
    found = []
    for name, package in (("javac", _JDK), ("mvn", "maven")):
        try:
            _tool(name, package)
        except BuildError as error:
            found.append(str(error))
    return found


def is_built(release: str) -> bool:
    """Whether the subject for a release is there, as its sources are now."""
    stamp = TARGET / release / "stamp"
    return stamp.exists() and stamp.read_text() == _digest(adapter(release))


def _build(version: str, chosen: Adapter) -> None:
    for lack in missing():
        raise BuildError(lack)
    target = TARGET / version
    print(f"building the subject for Kafka {version} ...", file=sys.stderr, flush=True)
    release = [f"-Dkafka.version={version}", f"-Dscala.binary={chosen.scala}"]
    _run(version, _tool("mvn", "maven"), "--quiet", "--batch-mode", "-f", str(HERE / "pom.xml"), "validate", *release)
    shutil.rmtree(target / "classes", ignore_errors=True)
    options = ["-nowarn", "--release", _JAVA, "-encoding", "UTF-8", "-d", str(target / "classes")]
    _run(version, _tool("javac", _JDK), *options, "-cp", _jars(version), *map(str, sources(chosen)))


def _run(version: str, *command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        said = done.stdout.strip()[-4000:]
        raise BuildError(f"{Path(command[0]).name} could not build the subject for Kafka {version}:\n{said}")


def _jars(version: str) -> str:
    return (TARGET / version / "classpath").read_text().strip()


def sources(chosen: Adapter) -> list[Path]:
    """The Java files for a release: those in common, and of each file name in `since-X` the newest not newer than it.

    An empty file says that from then on there is none.
    """
    newest: dict[str, Path] = {}
    for since in sorted((HERE / "java").glob("since-*"), key=_line):
        if _line(since) <= chosen.line:
            newest |= {str(file.relative_to(since)): file for file in since.rglob("*.java")}
    common = (HERE / "java" / "common").rglob("*.java")
    return sorted([*common, *(file for file in newest.values() if file.stat().st_size)])


def _line(since: Path) -> tuple[int, ...]:
    return tuple(map(int, since.name.removeprefix("since-").split(".")))


def _digest(chosen: Adapter) -> str:
    """Of all that a build depends on, but for what Maven fetches."""
    digest = hashlib.blake2b(digest_size=16)
    for file in [HERE / "pom.xml", *sources(chosen)]:
        digest.update(str(file.relative_to(HERE)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Nobody else builds there meanwhile."""
    target.mkdir(parents=True, exist_ok=True)
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _tool(name: str, package: str) -> str:
    home = os.environ.get("JAVA_HOME")
    if home and name.startswith("java") and (Path(home) / "bin" / name).exists():
        return str(Path(home) / "bin" / name)
    found = shutil.which(name)
    if found is None:
        raise BuildError(f"{name} is missing: sudo apt-get install {package}")
    return found
