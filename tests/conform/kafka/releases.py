"""Kafka's releases, and the sources of this directory for the adapter of each release.

The Kafka classes that an adapter uses have changed often, so there are several adapters. A release that is not listed
here uses the adapter for its first two numbers.
"""

import re
from dataclasses import dataclass

_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(?:\.(\d+))?.*")


class ReleaseError(ValueError):
    """There is no adapter for a release. The message lists the releases with an adapter."""


@dataclass(frozen=True)
class Adapter:
    """The sources of the adapter for the releases whose first numbers are `line`."""

    line: tuple[int, ...]
    scala: str  # the Scala version in the name of the release's artifact


ADAPTERS = (
    Adapter((0, 10, 2), "2.11"),
    Adapter((1, 1), "2.12"),
    Adapter((2, 0), "2.12"),
    Adapter((2, 1), "2.12"),
    Adapter((2, 2), "2.12"),
    Adapter((2, 3), "2.12"),
    Adapter((2, 5), "2.13"),
    Adapter((2, 6), "2.13"),
    Adapter((2, 7), "2.13"),
    Adapter((2, 8), "2.13"),
    Adapter((3, 0), "2.13"),
    Adapter((3, 1), "2.13"),
    Adapter((3, 4), "2.13"),
    Adapter((3, 5), "2.13"),
    Adapter((3, 6), "2.13"),
    Adapter((3, 7), "2.13"),
    Adapter((3, 9), "2.13"),
    Adapter((4, 3), "2.13"),
    Adapter((4, 4), "2.13"),
)

# The releases that `make kafka` runs.
RELEASES = (
    "0.10.2.2",
    "1.1.0",
    "1.1.1",
    "2.0.0",
    "2.0.1",
    "2.1.0",
    "2.1.1",
    "2.2.2",
    "2.3.1",
    "2.6.0",
    "2.6.1",
    "2.7.2",
    "2.8.0",
    "2.8.1",
    "3.0.2",
    "3.1.2",
    "3.4.0",
    "3.4.1",
    "3.5.0",
    "3.5.1",
    "3.6.2",
    "3.7.2",
    "3.9.0",
    "3.9.2",
    "4.3.1",
    "4.4.0",
)


def adapter(release: str) -> Adapter:
    """Return the adapter for a release such as `2.8.1`. Raises ReleaseError."""
    match = _VERSION.fullmatch(release)
    if match is None:
        raise ReleaseError(f"a release has a name such as 2.8.1; got {release!r}")
    numbers = tuple(int(number) for number in match.groups() if number is not None)
    for one in ADAPTERS:
        if numbers[: len(one.line)] == one.line:
            return one
    known = ", ".join(".".join(map(str, one.line)) for one in ADAPTERS)
    raise ReleaseError(f"there is no adapter for Kafka {release}; there are adapters for {known}")
