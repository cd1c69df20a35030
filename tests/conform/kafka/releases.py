"""Kafka's releases, and which sources of this directory make a subject of each.

The classes that a subject is made of moved much from release to release, so there is an adapter for each generation of
them. A release that is not named here takes that of the newest one before it which has the same first two numbers.
"""

import re
from dataclasses import dataclass

_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(?:\.(\d+))?.*")


class ReleaseError(ValueError):
    """A text that names no release that there is an adapter for; the message says which there are."""


@dataclass(frozen=True)
class Adapter:
    """What it takes to build the subject for some releases, `oldest` to `newest` by their first numbers."""

    oldest: tuple[int, ...]
    newest: tuple[int, ...]
    scala: str  # the binary version that the release's artifact is named by
    sources: tuple[str, ...]  # directories of java/, besides common


ADAPTERS = (
    Adapter((0, 10, 2), (0, 10, 2), "2.11", ("0.10.2-3.4", "0.10.2")),
    Adapter((1, 1), (1, 1), "2.12", ("0.10.2-3.4", "1.1-3.4", "1.1-2.6", "1.1-2.0", "1.1")),
    Adapter((2, 0), (2, 0), "2.12", ("0.10.2-3.4", "1.1-3.4", "1.1-2.6", "1.1-2.0", "2.0")),
    Adapter((2, 6), (2, 6), "2.13", ("0.10.2-3.4", "1.1-3.4", "1.1-2.6", "2.6-3.4", "2.6-2.8", "2.6")),
    Adapter((2, 8), (2, 8), "2.13", ("0.10.2-3.4", "1.1-3.4", "2.6-3.4", "2.6-2.8", "2.8")),
    Adapter((3, 4), (3, 4), "2.13", ("0.10.2-3.4", "1.1-3.4", "2.6-3.4", "3.4-3.9", "3.4")),
    Adapter((3, 9), (3, 9), "2.13", ("3.4-3.9", "3.9-4.3", "3.9")),
    Adapter((4, 3), (4, 3), "2.13", ("3.9-4.3", "4.3")),
)

# What `make kafka` runs.
RELEASES = (
    "0.10.2.2",
    "1.1.0",
    "1.1.1",
    "2.0.0",
    "2.0.1",
    "2.6.0",
    "2.6.1",
    "2.8.0",
    "2.8.1",
    "3.4.0",
    "3.4.1",
    "3.9.0",
    "3.9.2",
    "4.3.1",
)


def adapter(release: str) -> Adapter:
    """The adapter for a release such as `2.8.1`. Raises ReleaseError."""
    match = _VERSION.fullmatch(release)
    if match is None:
        raise ReleaseError(f"a release is named as 2.8.1 is; got {release!r}")
    numbers = tuple(int(number) for number in match.groups() if number is not None)
    for one in ADAPTERS:
        if one.oldest <= numbers[: len(one.oldest)] and numbers[: len(one.newest)] <= one.newest:
            return one
    known = ", ".join(".".join(map(str, one.oldest)) for one in ADAPTERS)
    raise ReleaseError(f"there is no adapter for Kafka {release}; there are adapters for {known}")
