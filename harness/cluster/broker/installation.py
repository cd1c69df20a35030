"""Find the jars of a Kafka release, on Maven Central or in a local distribution."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from epochfuzz.harness.cluster.broker.tools import tool
from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.engine.runtime.cache import user_cache
from epochfuzz.harness.environment.locks import take_lock

RESOURCES = Path(__file__).parents[1] / "resources"
DEFAULT_RELEASE = "4.3.1"

_RELEASE = re.compile(r"\d+\.\d+\.\d+\S*")
_CORE_JAR = re.compile(r"kafka_2\.\d+-(\d\S*)\.jar")
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
# Kafka's artifacts come without an slf4j binding. 4.0 moved from log4j 1 to log4j 2 (KAFKA-9366).
_LOGGING = {
    True: ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"),
    False: ("org.slf4j", "slf4j-reload4j", "1.7.36"),
}


@dataclass(frozen=True)
class Installation:
    """A class path that can run Kafka, and the release that its jars belong to."""

    release: str
    class_path: tuple[str, ...]

    def preceded_by(self, directory: Path) -> "Installation":
        """Return this installation with a directory at the start of the class path.

        Java then loads the classes in this directory instead of the classes with equal names in the jars.
        """
        return Installation(self.release, (str(directory), *self.class_path))


def cache() -> Path:
    """Return the directory for downloads and builds that are kept between runs. Raises ClusterError."""
    try:
        return user_cache() / "kafka"
    except (OSError, RuntimeError) as error:
        raise ClusterError(f"the cache cannot be used: {error}; set XDG_CACHE_HOME to another directory") from None


def from_home(home: Path) -> Installation:
    """Return the installation in an unpacked Kafka distribution, a directory with `libs`. Raises ClusterError."""
    home = home.resolve()  # the nodes run in another directory
    for jar in sorted((home / "libs").glob("kafka_2.*.jar")):
        found = _CORE_JAR.fullmatch(jar.name)
        if found and not found[1].endswith(("-test", "-sources", "-javadoc", "-scaladoc")):
            return Installation(found[1], (str(home / "libs" / "*"),))
    raise ClusterError(
        f"{home} has no Kafka, because libs/kafka_2.13-VERSION.jar is missing; name the directory of an unpacked"
        " distribution"
    )


def refuse_no_release(name: str) -> None:
    """Raise ClusterError if a name does not look like a release, such as `4.3.1`."""
    if not _RELEASE.fullmatch(name):
        raise ClusterError(f"the release must have a name such as {DEFAULT_RELEASE}; got {name!r}")


def from_maven(release: str) -> Installation:
    """Return the installation of a Kafka release. Maven downloads the release on first use. Raises ClusterError."""
    refuse_no_release(release)
    with locked(cache() / release) as directory:
        listed = directory / "classpath"
        if not _all_there(listed):
            group, artifact, version = _LOGGING[int(release.partition(".")[0]) >= 4]
            resolve(
                f"Kafka {release}",
                RESOURCES / "pom.xml",
                listed,
                {
                    "kafka.version": release,
                    "logging.group": group,
                    "logging.artifact": artifact,
                    "logging.version": version,
                },
            )
        return Installation(release, tuple(listed.read_text(encoding="utf-8").strip().split(os.pathsep)))


def resolve(what: str, pom: Path, listed: Path, properties: dict[str, str]) -> None:
    """Let Maven download the dependencies in the file `pom`, and write the class path to the file `listed`.

    Raises ClusterError.
    """
    values = [f"-D{name}={value}" for name, value in (properties | {"mdep.outputFile": str(listed)}).items()]
    command = [tool("mvn"), "--quiet", "--batch-mode", "--strict-checksums", "--file", str(pom), _PLUGIN, *values]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode != 0:
        said = next((line for line in ended.stdout.splitlines() if "Could not" in line or "[ERROR]" in line), "")
        lost = re.search(r"(Could not (?:find|transfer) artifact \S+)", said)
        raise ClusterError(
            f"Maven could not fetch {what}: {lost[1] if lost else said}; check that this version exists, and that this"
            " machine reaches Maven Central"
        )


@contextmanager
def locked(directory: Path) -> Iterator[Path]:
    """Create a directory of the cache, and lock it inside this block. Waits for another process that has the lock."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClusterError(
            f"{directory} cannot be created: {error.strerror}; set XDG_CACHE_HOME to another directory"
        ) from None
    with (directory / "lock").open("w") as lock:
        take_lock(lock.fileno(), wait=True)
        yield directory


def _all_there(listed: Path) -> bool:
    """Return whether the file `listed` (the class path) and all jars in this class path exist.

    A user may have emptied the local Maven repository since this file was written.
    """
    return listed.exists() and all(Path(jar).exists() for jar in listed.read_text().strip().split(os.pathsep))
