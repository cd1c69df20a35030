"""Define the build of the adapter for a release of Kafka."""

from pathlib import Path

from tests.conform.kafka.releases import Adapter, adapter
from tests.systems.jvm import build as jvm

HERE = Path(__file__).parent


def build_of(release: str, version: str | None = None) -> jvm.Build:
    """Return the build of the adapter for a release. Raises ReleaseError.

    `version` is the version of Kafka's artifact if it differs from the release, for example for a build of your own.
    """
    version = version or release
    chosen = adapter(release)
    return jvm.Build(
        name="Kafka",
        version=version,
        folder=HERE,
        sources=sources(chosen),
        properties={"kafka.version": version, "scala.binary": chosen.scala},
        resources=HERE / "resources",
    )


def sources(chosen: Adapter) -> list[Path]:
    """Return the Java files for a release."""
    return jvm.sources(HERE / "java", chosen.line, "protocol", "broker", "cluster")
