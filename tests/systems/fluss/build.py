"""The versions of Fluss that have an adapter, and the build of the adapter."""

import re
from pathlib import Path

from tests.systems.jvm.build import Build, missing, sources
from tests.systems.system import System

HERE = Path(__file__).parent
VERSIONS = ("0.9.1-incubating", "0.7.0", "0.6.0")
_PACKAGE, _BEFORE_APACHE = "org.apache.fluss", "com.alibaba.fluss"
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(-incubating)?")


class VersionError(ValueError):
    """There is no adapter for a version. The message lists the versions with an adapter."""


def build_of(version: str) -> Build:
    """Return the build of the adapter for a version such as `0.9.1-incubating`. Raises VersionError."""
    is_apaches = line_of(version) >= (0, 8)
    return Build(
        name="Fluss",
        version=version,
        folder=HERE,
        sources=sources(HERE / "java", line_of(version), "protocol", "broker", "cluster"),
        properties={"fluss.version": version, "fluss.group": _PACKAGE if is_apaches else _BEFORE_APACHE},
        renamed=None if is_apaches else (_PACKAGE, _BEFORE_APACHE),
    )


def line_of(version: str) -> tuple[int, int]:
    """The first two numbers of a version. Raises VersionError."""
    match = _VERSION.fullmatch(version)
    if match is None or version not in VERSIONS:
        raise VersionError(f"there is no subject for Fluss {version}; there are {', '.join(VERSIONS)}")
    return int(match[1]), int(match[2])


# What each version has to agree with in the model. Until apache/fluss#674 a follower took its leader's high watermark.
PROTOCOLS = {
    "0.9.1": "fluss-0.9.1",
    "0.7.0": "fluss-0.9.1:isr_eligibility=unchecked",
    "0.6.0": "fluss-0.9.1:isr_eligibility=unchecked,follower_high_watermark=leaders",
}


def _system(version: str) -> System:
    short = version.removesuffix("-incubating")
    return System(
        protocol=PROTOCOLS[short],
        name=f"fluss-{short}",
        module="tests.systems.fluss",
        version=version,
        missing=missing,
        build=lambda: build_of(version).class_path(),
    )


SYSTEMS = tuple(map(_system, VERSIONS))
