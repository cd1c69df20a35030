"""Builds the subject for a release, once: Maven fetches Kafka's jars and compiles the adapter against them."""

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
_LAYERS = 4  # of pom.xml: so many directories of sources besides java/common


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
    jars = (target / "classpath").read_text().strip()
    return f"{target / 'classes'}{os.pathsep}{jars}"


def java() -> str:
    """The java command. Raises BuildError."""
    return _tool("java", "openjdk-17-jdk-headless")


def missing() -> list[str]:
    """What has to be installed before anything can be built, one sentence each."""
    found = []
    for name, package in (("javac", "openjdk-17-jdk-headless"), ("mvn", "maven")):
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
    sources = {f"subject.layer{i + 1}": name for i, name in enumerate(chosen.sources)}
    assert len(sources) <= _LAYERS
    properties = {"kafka.version": version, "scala.binary": chosen.scala, **sources}
    shutil.rmtree(TARGET / version / "classes", ignore_errors=True)
    command = [
        _tool("mvn", "maven"),
        "--quiet",
        "--batch-mode",
        "--file",
        str(HERE / "pom.xml"),
        "process-classes",
        *(f"-D{key}={value}" for key, value in properties.items()),
    ]
    print(f"building the subject for Kafka {version} ...", file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"Maven could not build the subject for Kafka {version}:\n{done.stdout.strip()[-4000:]}")


def _digest(chosen: Adapter) -> str:
    """Of all that a build depends on, but for what Maven fetches."""
    digest = hashlib.blake2b(digest_size=16)
    directories = [HERE / "java" / name for name in ("common", *chosen.sources)]
    files = [HERE / "pom.xml", *(file for one in (HERE / "resources", *directories) for file in one.rglob("*.*"))]
    for file in sorted(files):
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
