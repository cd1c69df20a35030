"""The client libraries of `make clients`: how to build the adapter of each, and the issues that report its failures."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from epochfuzz.harness.cluster.broker.installation import locked
from tests.systems import golang
from tests.systems.jvm import build as jvm
from tests.systems.system import BuildError

HERE = Path(__file__).parent
_GO = HERE / "golang"
_JAVA = HERE / "java_client"
# Reports of failures of all libraries, by case.
REPORTS = {"kip-320-end-of-an-older-epoch": "docs/findings/consumer-position.md"}


@dataclass(frozen=True)
class Library:
    """A version of a client library.

    `build` returns the command of the adapter. It raises BuildError with the reason, for example a missing toolchain.
    With `assigns`, the application assigns the position after each change of leader, and the consumer has not validated
    it before. With `commits_offset_only`, the application commits positions without their leader epochs. `issue` is the
    report of its failures, None if we know no report.
    """

    name: str
    version: str
    build: Callable[[], list[str]]
    assigns: bool = False
    commits_offset_only: bool = False
    issue: str | None = None

    @property
    def title(self) -> str:
        """The text of the library's row."""
        way = ", assigned position" * self.assigns + ", commits without epochs" * self.commits_offset_only
        return f"{self.name} {self.version}{way}"

    def command(self) -> list[str]:
        """Build the adapter if necessary, and return its command. Raises BuildError."""
        options = ["--restart"] * self.assigns + ["--commit-offset-only"] * self.commits_offset_only
        return [*self.build(), *options]


def _python(module: str, package: str) -> list[str]:
    if not _version(package):
        raise BuildError(
            f"{package} is missing: .venv/bin/python -m pip install --constraint constraints.txt {package}"
        )
    return [sys.executable, "-m", f"tests.clients.{module}"]


def _go(name: str) -> list[str]:
    for lack in golang.missing():
        raise BuildError(lack)
    target = HERE / "target"
    with locked(target):
        golang.run("build", "-o", str(target / name), f"./{name}", at=_GO)  # Go itself skips what has not changed
    return [str(target / name)]


def _java(release: str) -> list[str]:
    sources = sorted((_JAVA / "java").rglob("*.java"))
    return jvm.command(
        jvm.Build("Kafka's Java client", release, _JAVA, sources, {"kafka.version": release}).class_path()
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _librdkafka() -> str:
    """Return the version of librdkafka, which the package confluent-kafka contains."""
    try:
        import confluent_kafka
    except ImportError:
        return ""
    return str(confluent_kafka.libversion()[0])


def _required(module: str) -> str:
    """Return the version of a Go module in go.mod."""
    lines = (_GO / "go.mod").read_text().splitlines()
    return next(line.split()[1].removeprefix("v") for line in lines if line.strip().startswith(module))


def libraries() -> list[Library]:
    """Return all libraries, in the order of the table."""
    rdkafka, franz = partial(_python, "librdkafka", "confluent_kafka"), partial(_go, "franz")
    franz_version = _required("github.com/twmb/franz-go ")
    found = [
        Library("librdkafka", _librdkafka(), rdkafka, issue="confluentinc/librdkafka#5158"),
        Library("librdkafka", _librdkafka(), rdkafka, assigns=True, issue="confluentinc/librdkafka#5158"),
        Library("aiokafka", _version("aiokafka"), partial(_python, "asyncio_kafka", "aiokafka")),
        Library("kafka-python", _version("kafka-python"), partial(_python, "kafka_python", "kafka-python")),
        Library("franz-go", franz_version, franz),
        Library("franz-go", franz_version, franz, assigns=True),
        Library(
            "Sarama", _required("github.com/IBM/sarama "), partial(_go, "sarama"), issue="IBM/sarama#2365, KIP-320"
        ),
    ]
    for release in ("3.9.2", "4.3.1"):
        for assigns in (False, True):
            found.append(Library("Kafka's Java client", release, partial(_java, release), assigns))
    newest = partial(_java, "4.3.1")
    found.append(Library("Kafka's Java client", "4.3.1", newest, commits_offset_only=True, issue="KAFKA-20507"))
    return found
