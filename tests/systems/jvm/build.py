"""Build an adapter that runs in a JVM, once: Maven fetches the system's jars, and javac compiles the adapter.

Maven's own compiler cannot be used, because the poms of some systems declare their jars with the scope `runtime`, and
these jars would be missing on the class path of the compiler.

The adapters share the code in `java`. Each adapter uses the folders that it needs:

* `protocol` contains the lines of the conformance protocol, and tasks that are suspended when they send a request. The
  system provides `Cluster`, which applies events and shows observations, and `Release`, which knows the version and the
  command line.
* `broker` and `cluster` contain a `Cluster` for replicas that fetch from their leader, one pass of their thread at a
  time, and a controller. The system provides `Release`, `Quorum`, `FakeTime`, `Partitions`, `Batches` and `Broker`.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from epochfuzz.harness.cluster.broker.installation import locked
from tests.systems.system import BuildError

__all__ = ["Build", "BuildError", "command", "java", "missing", "patched", "shared", "sources"]

HERE = Path(__file__).parent
_JAVA = "17"
_JDK = f"openjdk-{_JAVA}-jdk-headless"

# Runs are short: the serial garbage collector suffices, and an optimizing compiler would not pay off.
_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djava.security.manager=allow")


@dataclass(frozen=True)
class Build:
    """The parts of an adapter. Its folder contains pom.xml, whose parent is the pom next to this file.

    `name` is the system's name in messages. `version` is the name of the folder in `target` for the build. `properties`
    are those of the pom. `resources` is a folder of the class path. `renamed` is the package in the sources, and its
    name in this version.
    """

    name: str
    version: str
    folder: Path
    sources: Sequence[Path]
    properties: Mapping[str, str] = field(default_factory=dict)
    resources: Path | None = None
    renamed: tuple[str, str] | None = None

    @property
    def target(self) -> Path:
        """The folder of the build. It contains `classes`, and `classpath`, a file with the paths of the jars."""
        return self.folder / "target" / self.version

    def class_path(self) -> str:
        """Build the adapter if necessary, and return its class path. Raises BuildError."""
        with locked(self.target):
            if not self.is_built():
                self._build()
                self._stamp.write_text(self._digest())
        entries = [str(self.target / "classes"), *([str(self.resources)] if self.resources else []), self.jars()]
        return os.pathsep.join(entries)

    def is_built(self) -> bool:
        """Return whether the adapter was built from the current sources."""
        return self._stamp.exists() and self._stamp.read_text() == self._digest()

    def jars(self) -> str:
        """Return the part of the class path that Maven has fetched."""
        return (self.target / "classpath").read_text().strip()

    @property
    def _stamp(self) -> Path:
        return self.target / "stamp"

    def _build(self) -> None:
        for lack in missing():
            raise BuildError(lack)
        print(f"building the subject for {self.name} {self.version} ...", file=sys.stderr, flush=True)
        given = [f"-D{name}={value}" for name, value in {**self.properties, "target": str(self.target)}.items()]
        pom = str(self.folder / "pom.xml")
        self._run(_tool("mvn", "maven"), "--quiet", "--batch-mode", "--strict-checksums", "-f", pom, "validate", *given)
        shutil.rmtree(self.target / "classes", ignore_errors=True)
        options = ["-nowarn", "--release", _JAVA, "-encoding", "UTF-8", "-d", str(self.target / "classes")]
        self._run(_tool("javac", _JDK), *options, "-cp", self.jars(), *map(str, self._written()))

    def _written(self) -> Iterator[Path]:
        """Yield the sources, or copies of them where a package has another name."""
        written = self.target / "sources"
        shutil.rmtree(written, ignore_errors=True)
        for number, file in enumerate(self.sources):
            if self.renamed is None:
                yield file
                continue
            copy = written / str(number) / file.name
            copy.parent.mkdir(parents=True)
            copy.write_text(file.read_text().replace(*self.renamed))
            yield copy

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            said = done.stdout.strip()[-4000:]
            name = Path(command[0]).name
            raise BuildError(f"{name} could not build the subject for {self.name} {self.version}:\n{said}")

    def _digest(self) -> str:
        """Return the digest of everything that a build depends on, except for the jars that Maven fetches."""
        digest = hashlib.blake2b(repr((sorted(self.properties.items()), self.renamed)).encode(), digest_size=16)
        for file in [HERE / "pom.xml", self.folder / "pom.xml", *self.sources]:
            digest.update(os.path.relpath(file, self.folder).encode() + b"\0" + file.read_bytes() + b"\0")
        return digest.hexdigest()


def sources(java: Path, line: tuple[int, ...], *shared: str) -> list[Path]:
    """Return the Java files for a version whose first numbers are `line`. A later file replaces earlier namesakes.

    The order is: the shared folders, `java/common`, and `java/since-X` for all X up to the version. An empty file
    removes the file from that version on.
    """
    since = [folder for folder in sorted(java.glob("since-*"), key=_line) if _line(folder) <= line]
    found: dict[str, Path] = {}
    for folder in [*(HERE / "java" / name for name in shared), java / "common", *since]:
        found |= {str(file.relative_to(folder)): file for file in folder.rglob("*.java")}
    return sorted(file for file in found.values() if file.stat().st_size)


def shared(*folders: str) -> list[Path]:
    """Return the Java files of shared folders, such as `protocol`."""
    return sorted(file for folder in folders for file in (HERE / "java" / folder).rglob("*.java"))


def _line(since: Path) -> tuple[int, ...]:
    return tuple(map(int, since.name.removeprefix("since-").split(".")))


def command(
    class_path: str, *arguments: str, log: str = "off", options: Sequence[str] = (), main: str = "subject.Main"
) -> list[str]:
    """Return the command that starts an adapter. Raises BuildError.

    `log` is the level at which the system logs to standard error, such as `warn`. `options` are options of the JVM.
    `main` is the main class if the command starts a different program.
    """
    level = f"-Dorg.slf4j.simpleLogger.defaultLogLevel={log}"
    return [java(), *_OPTIONS, *options, level, "-cp", class_path, main, *arguments]


def patched(path: str, classes: Path) -> str:
    """Return the class path, preceded by a directory of classes. Raises BuildError if the directory has none."""
    if not any(classes.rglob("*.class")):
        raise BuildError(f"{classes}: there is no *.class; name the directory that holds the packages' folders")
    return os.pathsep.join([str(classes.resolve()), path])


def java() -> str:
    """Return the java command. Raises BuildError."""
    return _tool("java", _JDK)


def missing() -> list[str]:
    """Return a sentence for each required program that is not installed."""
    found = []
    for name, package in (("javac", _JDK), ("mvn", "maven")):
        try:
            _tool(name, package)
        except BuildError as error:
            found.append(str(error))
    return found


def _tool(name: str, package: str) -> str:
    home = os.environ.get("JAVA_HOME")
    if home and name.startswith("java") and (Path(home) / "bin" / name).exists():
        return str(Path(home) / "bin" / name)
    found = shutil.which(name)
    if found is None:
        raise BuildError(f"{name} is missing: sudo apt-get install {package}")
    return found
