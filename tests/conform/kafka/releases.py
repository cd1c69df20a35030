"""Kafka's releases, and which sources of this directory make a subject of each.

The classes that a subject is made of moved much from release to release, so there is an adapter for each generation of
them. A release that is not named here takes that of its first two numbers.
"""

import re
from dataclasses import dataclass

_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(?:\.(\d+))?.*")


class ReleaseError(ValueError):
    """A text that names no release that there is an adapter for; the message says which there are."""


@dataclass(frozen=True)
class Adapter:
    """What the subject is built from for the releases whose first numbers are these."""

    line: tuple[int, ...]
    scala: str  # the binary version that the release's artifact is named by


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
    Adapter((3, 9), "2.13"),
    Adapter((4, 3), "2.13"),
    Adapter((4, 4), "2.13"),
)

# What `make kafka` runs.
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
    "3.9.0",
    "3.9.2",
    "4.3.1",
    "4.4.0",
)


def adapter(release: str) -> Adapter:
    """The adapter for a release such as `2.8.1`. Raises ReleaseError."""
    match = _VERSION.fullmatch(release)
    if match is None:
        raise ReleaseError(f"a release is named as 2.8.1 is; got {release!r}")
    numbers = tuple(int(number) for number in match.groups() if number is not None)
    for one in ADAPTERS:
        if numbers[: len(one.line)] == one.line:
            return one
    known = ", ".join(".".join(map(str, one.line)) for one in ADAPTERS)
    raise ReleaseError(f"there is no adapter for Kafka {release}; there are adapters for {known}")
