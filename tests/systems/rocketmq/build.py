"""The build and the command line of the adapter for a release of RocketMQ."""

from pathlib import Path

from tests.systems.jvm.build import Build, missing, shared
from tests.systems.system import System

HERE = Path(__file__).parent
VERSIONS = ("5.3.3", "5.4.0", "5.5.1")  # what `make systems` runs


def build_of(version: str) -> Build:
    """The build of the subject for a release."""
    return Build(
        name="RocketMQ",
        version=version,
        folder=HERE,
        sources=[*shared("protocol"), *sorted((HERE / "java").rglob("*.java"))],
        properties={"rocketmq.version": version},
        resources=HERE / "resources",
    )


def system_of(version: str) -> System:
    """RocketMQ as `python -m tests.systems` runs it, under a protocol that changes the ISR by request."""
    return System(
        name=f"rocketmq-{version}",
        module="tests.systems.rocketmq",
        version=version,
        missing=missing,
        build=build_of(version).class_path,
        protocol="kip-497",
    )


SYSTEMS = tuple(map(system_of, VERSIONS))
