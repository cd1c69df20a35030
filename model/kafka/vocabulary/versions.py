"""The released versions of Kafka, and the release in protocols.py that stands for each version.

A release stands for all versions with the same replication protocol. A name can be a version, such as `kafka-4.3.1`, or
a line of versions, such as `kafka-3.2` or `kafka-0.11`, which means the newest version of the line.
"""

from collections.abc import Sequence

# The versions of each release, as of kafka_2.13 in Maven Central on 2026-11-23.
_RELEASED = {
    "kafka-0.10.2": "0.10.2.0 0.10.2.1 0.10.2.2",
    "kafka-1.1": "0.11.0.0 0.11.0.1 0.11.0.2 0.11.0.3 1.0.0 1.0.1 1.0.2 1.1.0 1.1.1",
    "kafka-2.0.0": "2.0.0",
    "kafka-2.0.1": "2.0.1",
    "kafka-2.1.0": "2.1.0",
    "kafka-2.1.1": "2.1.1",
    "kafka-2.2": "2.2.0 2.2.1 2.2.2",
    "kafka-2.3": "2.3.0 2.3.1",
    "kafka-2.4": "2.4.0 2.4.1",
    "kafka-2.6.0": "2.5.0 2.5.1 2.6.0",
    "kafka-2.6.1": "2.6.1 2.6.2 2.6.3",
    "kafka-2.7": "2.7.0 2.7.1 2.7.2",
    "kafka-2.8.0": "2.8.0",
    "kafka-2.8.1": "2.8.1 2.8.2",
    "kafka-3.0": "3.0.0 3.0.1 3.0.2",
    "kafka-3.1": "3.1.0 3.1.1 3.1.2 3.2.0",
    "kafka-3.2.1": "3.2.1 3.2.2 3.2.3",
    "kafka-3.3": "3.3.0 3.3.1 3.3.2 3.4.0",
    "kafka-3.4.1": "3.4.1",
    "kafka-3.5.0": "3.5.0",
    "kafka-3.5.1": "3.5.1 3.5.2",
    "kafka-3.6": "3.6.0 3.6.1 3.6.2",
    "kafka-3.7": "3.7.0 3.7.1 3.7.2 3.8.0 3.8.1 3.9.0 4.0.0",
    "kafka-3.9.1": "3.9.1 3.9.2 4.0.1 4.0.2",
    "kafka-4.1": "4.1.0 4.1.1 4.1.2 4.2.0 4.2.1 4.2.2 4.3.0 4.3.1 4.4.0",
}

_PRODUCER_EPOCHS = "a leader rejects late records of transactions, with transaction.version=2 (KIP-890)"
_MARKERS = "a leader also rejects late markers, with transaction.version=2 (KIP-1228, late_request=rejected)"

# For each version that differs from the protocol of its release: the difference.
_OTHERWISE = {
    **dict.fromkeys(("4.0.0", "4.0.1", "4.0.2"), _PRODUCER_EPOCHS),
    **dict.fromkeys(("4.2.0", "4.2.1", "4.2.2", "4.3.0", "4.3.1", "4.4.0"), _MARKERS),
    "1.1.0": "a response with records carries the high watermark from after the fetch (KAFKA-7104)",
    "4.1.0": "the controller remembers the last known leader only when the ISR becomes empty (apache/kafka#20629)",
}

PREFIX = "kafka-"
_RELEASE_OF = {version: release for release, versions in _RELEASED.items() for version in versions.split()}


class UnknownVersion(ValueError):
    """A name is not a version of Kafka that epochfuzz knows; the message suggests versions."""


def released(release: str) -> list[str]:
    """Return the versions that a release stands for, the oldest first."""
    return _RELEASED[release].split()


def version_of(name: str) -> str:
    """Return the version that a name means, such as `3.2.3` for `kafka-3.2`. Raises UnknownVersion."""
    wanted = _numbers(name.removeprefix(PREFIX))
    if len(wanted) < 2:
        raise UnknownVersion(f"{name!r} is not a version of Kafka; name one, such as kafka-4.3.1 or kafka-4.3")
    known = sorted(map(_numbers, _RELEASE_OF))
    matching = [version for version in known if version[: len(wanted)] == wanted]
    if matching:
        return _text(matching[-1])
    if wanted < known[0]:
        raise UnknownVersion(f"{name!r} is older than Kafka {_text(known[0])}, the oldest whose protocol is known")
    if wanted > known[-1]:
        raise UnknownVersion(f"{name!r} is newer than Kafka {_text(known[-1])}, the newest whose protocol is known")
    raise UnknownVersion(f"{name!r} is not a version of Kafka that epochfuzz knows; {_nearest_line(wanted, known)}")


def release_of(name: str) -> str:
    """Return the release that stands for a version, such as `kafka-4.1` for `kafka-4.3.1`. Raises UnknownVersion."""
    return _RELEASE_OF[version_of(name)]


def meaning(name: str) -> str | None:
    """Return a sentence that tells which protocol models a version of Kafka, such as `kafka-4.3.1`.

    Versions with equal rules share a protocol, and the protocol is named after a single version. Replaced mechanisms
    may follow `name` after a colon. Returns None if `name` is the name of a protocol. Raises UnknownVersion.
    """
    base = name.partition(":")[0]
    if base in _RELEASED or not base.startswith(PREFIX):
        return None
    release, exception = release_of(base), otherwise(base)
    but = f"; there {exception}" if exception else ""
    newest = "" if version_of(base) == base.removeprefix(PREFIX) else f", as {version_of(base)}"
    return f"{base} stands for {release}{newest} (Kafka {span(release)}){but}"


def otherwise(name: str) -> str | None:
    """Return a text about the difference between a version and the release that stands for it. Raises UnknownVersion.

    Returns None if the version and the release do not differ.
    """
    return _OTHERWISE.get(version_of(name))


def span(*releases: str) -> str:
    """Return the versions that one or more releases stand for, such as `3.7.0 to 3.9.0, 4.0.0`."""
    everything = sorted(map(_numbers, _RELEASE_OF))
    places = sorted(everything.index(_numbers(version)) for release in releases for version in released(release))
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    ends = [[_text(everything[place]) for place in dict.fromkeys([run[0], run[-1]])] for run in runs]
    return ", ".join(" to ".join(run) for run in ends)


def _nearest_line(wanted: tuple[int, ...], known: Sequence[tuple[int, ...]]) -> str:
    """Return a text that lists the known versions in the line (such as 3.2) of an unknown version, or all lines."""
    line = [version for version in known if version[: len(wanted) - 1] == wanted[:-1]]
    if len(wanted) > 2 and line:
        return f"of that line there are {', '.join(map(_text, line))}"
    lines = dict.fromkeys(_text(version[:3] if version[0] == 0 else version[:2]) for version in known)
    return f"there are {', '.join(lines)}"


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers in a version; an empty tuple if the text is not a version."""
    parts = version.split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() and part.isascii() for part in parts) else ()


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
