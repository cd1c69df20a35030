"""What the subject for a release of Kafka is built from."""

from pathlib import Path

from tests.conform.kafka.releases import Adapter, adapter
from tests.systems.jvm.build import Build, newest, shared

HERE = Path(__file__).parent


def build_of(release: str, version: str | None = None) -> Build:
    """The build of the subject for a release. Raises ReleaseError.

    `version` is the version of Kafka's artifact, if it is not the release itself: somebody's own build, say.
    """
    version = version or release
    chosen = adapter(release)
    return Build(
        name="Kafka",
        version=version,
        folder=HERE,
        sources=sources(chosen),
        properties={"kafka.version": version, "scala.binary": chosen.scala},
        resources=HERE / "resources",
    )


def sources(chosen: Adapter) -> list[Path]:
    """The Java files for a release: what systems share, what releases share, and what there is since it or before."""
    common = (HERE / "java" / "common").rglob("*.java")
    return [*shared("protocol", "broker", "cluster"), *sorted(common), *newest(HERE / "java", chosen.line)]
