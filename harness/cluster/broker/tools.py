"""Find the external commands that a cluster needs: Java, Maven, and setpriv of util-linux."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

from epochfuzz.harness.cluster.errors import ClusterError

_PACKAGES = {
    "java": "openjdk-17-jre-headless",
    "javac": "openjdk-17-jdk-headless",
    "mvn": "maven",
    "setpriv": "util-linux",
}
_LEAST_JAVA = 17  # the oldest version for Kafka 4's brokers (KIP-1013)


def tool(name: str) -> str:
    """Return the path of a command. If JAVA_HOME is set, Java's commands come from this JDK. Raises ClusterError."""
    home = os.environ.get("JAVA_HOME")
    if home and name.startswith("java"):
        path = Path(home) / "bin" / name
        if not path.exists():
            raise ClusterError(f"{path} is missing; set JAVA_HOME to a JDK, or unset it")
        return str(path)
    found = shutil.which(name)
    if found is None:
        raise ClusterError(f"{name} is missing; run `sudo apt-get install {_PACKAGES[name]}`")
    return found


@functools.cache
def java() -> str:
    """Return the path of `java`. Raises ClusterError if Java is missing, or too old for Kafka's brokers."""
    path = tool("java")
    version = _java_version(path)
    if version is None:
        raise ClusterError(f"{path} does not run; run `sudo apt-get install {_PACKAGES['java']}`")
    if version < _LEAST_JAVA:
        raise ClusterError(
            f"{path} is Java {version}, but Kafka needs {_LEAST_JAVA} or later; run `sudo apt-get install"
            f" {_PACKAGES['java']}`, or set JAVA_HOME to another JDK"
        )
    return path


def _java_version(path: str) -> int | None:
    """Return the major version of a `java` command, or None if it does not run.

    `java -version` prints a line such as `openjdk version "17.0.15" 2025-04-15` on stderr.
    """
    ended = subprocess.run([path, "-version"], capture_output=True, text=True, check=False)
    _, _, banner = ended.stderr.partition(' version "')
    number = banner.partition('"')[0].removeprefix("1.").partition(".")[0].partition("-")[0]
    return int(number) if number.isdigit() else None
