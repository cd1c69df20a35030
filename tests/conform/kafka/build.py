"""What the subject for a release of Kafka is built from."""

from pathlib import Path

from tests.conform.kafka.releases import Adapter, adapter
from tests.systems.jvm import build as jvm

HERE = Path(__file__).parent


def build_of(release: str, version: str | None = None) -> jvm.Build:
    """The build of the subject for a release. Raises ReleaseError.

    `version` is the version of Kafka's artifact, if it is not the release itself: somebody's own build, say.
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
    """The Java files for a release."""
    return jvm.sources(HERE / "java", chosen.line, "protocol", "broker", "cluster")
