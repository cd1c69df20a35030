"""Builds a subject that runs in a JVM, once: Maven fetches the system's jars, and javac compiles the adapter to them.

Not Maven's compiler: the poms of some systems call their own jars `runtime`, and it would have none of them.

What the adapters share is in `java`, in folders of which each takes those that it needs:

* `protocol`: the lines of the conformance protocol, and work that is suspended where it asks for something. The system
  brings `Cluster` (carries out events, shows what is seen) and `Release` (which version, what the command line says).
* `broker` and `cluster`: a `Cluster` for replicas that fetch from their leader, one pass of their thread at a time,
  with a controller of ours. The system brings `Release`, `Quorum`, `FakeTime`, `Partitions`, `Batches`, its `Broker`.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.systems.system import BuildError

__all__ = ["Build", "BuildError", "command", "java", "missing", "patched", "shared", "sources"]

HERE = Path(__file__).parent
_JAVA = "17"
_JDK = f"openjdk-{_JAVA}-jdk-headless"

# Short runs: one processor's worth of garbage collection, and no compiler that takes long to be worth it.
_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djava.security.manager=allow")


@dataclass(frozen=True)
class Build:
    """What a subject is built from. Its folder has pom.xml, whose parent is the pom beside this file.

    `name` is what messages call the system, `version` the folder of `target` that it is built in; `properties` are the
    pom's; `resources` is a folder that goes into the class path. `renamed`: the package that the sources name, and what
    this version calls it.
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
        """The folder of what is built: `classes`, and `classpath`, in which Maven writes where the jars are."""
        return self.folder / "target" / self.version

    def class_path(self) -> str:
        """The class path of the subject, which is built first, if need be. Raises BuildError."""
        with _alone(self.target):
            if not self.is_built():
                self._build()
                self._stamp.write_text(self._digest())
        entries = [str(self.target / "classes"), *([str(self.resources)] if self.resources else []), self.jars()]
        return os.pathsep.join(entries)

    def is_built(self) -> bool:
        """Whether the subject is there, as its sources are now."""
        return self._stamp.exists() and self._stamp.read_text() == self._digest()

    def jars(self) -> str:
        """The part of the class path that Maven has fetched."""
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
        """Of all that a build depends on, but for what Maven fetches."""
        digest = hashlib.blake2b(repr((sorted(self.properties.items()), self.renamed)).encode(), digest_size=16)
        for file in [HERE / "pom.xml", self.folder / "pom.xml", *self.sources]:
            digest.update(os.path.relpath(file, self.folder).encode() + b"\0" + file.read_bytes() + b"\0")
        return digest.hexdigest()


def sources(java: Path, line: tuple[int, ...], *shared: str) -> list[Path]:
    """The Java files for a version whose first numbers are `line`; each file stands in for those of its name before it.

    First come those of the shared folders, then those of `java/common`, then those in `java/since-X` for all X up to
    the version. An empty file says that from then on there is none.
    """
    since = [folder for folder in sorted(java.glob("since-*"), key=_line) if _line(folder) <= line]
    found: dict[str, Path] = {}
    for folder in [*(HERE / "java" / name for name in shared), java / "common", *since]:
        found |= {str(file.relative_to(folder)): file for file in folder.rglob("*.java")}
    return sorted(file for file in found.values() if file.stat().st_size)


def shared(*folders: str) -> list[Path]:
    """The Java files of shared folders, such as `protocol`."""
    return sorted(file for folder in folders for file in (HERE / "java" / folder).rglob("*.java"))


def _line(since: Path) -> tuple[int, ...]:
    return tuple(map(int, since.name.removeprefix("since-").split(".")))


def command(class_path: str, *arguments: str, log: str = "off", options: Sequence[str] = ()) -> list[str]:
    """What starts a subject. Raises BuildError.

    `log` is what the system logs, to standard error: `warn`, `info`; `options` are the JVM's.
    """
    level = f"-Dorg.slf4j.simpleLogger.defaultLogLevel={log}"
    return [java(), *_OPTIONS, *options, level, "-cp", class_path, "subject.Main", *arguments]


def patched(path: str, classes: Path) -> str:
    """The class path with a directory of classes before it. Raises BuildError if there are none."""
    if not any(classes.rglob("*.class")):
        raise BuildError(f"{classes}: there is no *.class; name the directory that holds the packages' folders")
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
