"""The released versions of Kafka, each with its protocol.

A release in protocols.py stands for all versions that replicate alike. You can name any version, or the first parts of
a version for the newest one of its line: `kafka-4.3.1`, `kafka-3.2`, `kafka-0.11`.
"""

from collections.abc import Sequence

# By the name of the release; up to date with kafka_2.13 in Maven Central on 2026-11-23.
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

# The differences of a version from its protocol.
_OTHERWISE = {
    "1.1.0": "an answer with records carries the high watermark as it is after the fetch (KAFKA-7104)",
    "4.1.0": "who led last is remembered only when the ISR becomes empty (apache/kafka#20629)",
}

PREFIX = "kafka-"
_RELEASE_OF = {version: release for release, versions in _RELEASED.items() for version in versions.split()}


class UnknownVersion(ValueError):
    """A text that is not a known version; the message lists the known ones."""


def released(release: str) -> list[str]:
    """Return the versions that a release stands for, the oldest first."""
    return _RELEASED[release].split()


def version_of(name: str) -> str:
    """Return the version that a name such as `kafka-3.2` means: the newest of its line. Raises UnknownVersion."""
    wanted = _numbers(name.removeprefix(PREFIX))
    if len(wanted) < 2:
        raise UnknownVersion(f"{name!r} is no version of Kafka; one is named as kafka-4.3.1 is, or its line, kafka-4.3")
    known = sorted(map(_numbers, _RELEASE_OF))
    matching = [version for version in known if version[: len(wanted)] == wanted]
    if matching:
        return _text(matching[-1])
    if wanted < known[0]:
        raise UnknownVersion(f"{name!r} is older than Kafka {_text(known[0])}, the oldest whose protocol is known")
    if wanted > known[-1]:
        raise UnknownVersion(f"{name!r} is newer than Kafka {_text(known[-1])}, the newest whose protocol is known")
    raise UnknownVersion(f"{name!r} is no version of Kafka that is known here; {_nearest_line(wanted, known)}")


def release_of(name: str) -> str:
    """Return the name of the release that a version such as `kafka-4.3.1` stands for. Raises UnknownVersion."""
    return _RELEASE_OF[version_of(name)]


def meaning(name: str) -> str | None:
    """Return a sentence that names the release of a version such as `kafka-4.3.1`, None for other names.

    The name may continue behind a colon. A release by its own name stands for itself and has no sentence. Raises
    UnknownVersion.
    """
    base = name.partition(":")[0]
    if base in _RELEASED or not base.startswith(PREFIX):
        return None
    release, exception = release_of(base), otherwise(base)
    but = f"; there {exception}" if exception else ""
    newest = "" if version_of(base) == base.removeprefix(PREFIX) else f", as {version_of(base)}"
    return f"{base} stands for {release}{newest} (Kafka {span(release)}){but}"


def otherwise(name: str) -> str | None:
    """Return the difference of a version from its protocol, None if there is none. Raises UnknownVersion."""
    return _OTHERWISE.get(version_of(name))


def span(release: str) -> str:
    """Return the versions of a release in a few words: `3.7.0 to 3.9.0, 4.0.0`."""
    everything = sorted(map(_numbers, _RELEASE_OF))
    places = [everything.index(_numbers(version)) for version in released(release)]
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    ends = [[_text(everything[place]) for place in dict.fromkeys([run[0], run[-1]])] for run in runs]
    return ", ".join(" to ".join(run) for run in ends)


def _nearest_line(wanted: tuple[int, ...], known: Sequence[tuple[int, ...]]) -> str:
    """Return a list of the versions of an unknown version's line, or a list of all lines."""
    line = [version for version in known if version[: len(wanted) - 1] == wanted[:-1]]
    if len(wanted) > 2 and line:
        return f"of that line there are {', '.join(map(_text, line))}"
    lines = dict.fromkeys(_text(version[:3] if version[0] == 0 else version[:2]) for version in known)
    return f"there are {', '.join(lines)}"


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, an empty tuple for any other text."""
    parts = version.split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() and part.isascii() for part in parts) else ()


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
