"""Attribution: find the broker that wrote a log line, if the line itself does not name the broker.

There are three sources, in this order: the pattern of `--broker`, other lines of the same origin, and other lines of
the same file or directory. An origin is the container, pod or host that a log collector puts before a line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING

from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.audit.judgement.history import stem
from epochfuzz.harness.audit.lines.events import Event
from epochfuzz.harness.audit.lines.facts import LogFacts
from epochfuzz.harness.audit.lines.sources import broker_in, expression_of

if TYPE_CHECKING:
    from epochfuzz.harness.audit.audit import AuditRequest

_NAMED = 3  # number of files that a sentence names, if there are many


@dataclass(frozen=True, kw_only=True)
class Attribution:
    """The broker of each file and of each origin, and the files with lines that an audit can't rely on.

    An origin is the container, pod or host that a log collector puts before a line.
    """

    brokers: dict[str, int]  # by file
    origins: dict[tuple[str, str], int | None]  # by file and origin; None if the origin may belong to another broker
    left_out: frozenset[str]  # files that are not in order of time, or with too many unread lines
    doubted: frozenset[str]  # files in which a line that ends with a number may have been cut
    newest_first: frozenset[str]  # files whose lines are in the reverse order
    clocks_back: frozenset[int]  # brokers with lines in several files whose order is unknown
    undated: frozenset[int]  # brokers of `clocks_back` whose lines have no dates
    newest: int | None  # the highest major release, None if no line names a release
    is_one_cluster: bool  # whether the lines show that all files with events are of one cluster

    def broker_of(self, event: Event) -> int | None:
        """Return the broker of an event, or None if neither the line nor its origin nor its file names a broker."""
        if event.broker is not None:
            return event.broker
        own = (event.file, event.origin or "")
        return self.origins[own] if own in self.origins else self.brokers.get(event.file)

    def counts(self, event: Event) -> bool:
        """Return whether the audit can rely on an event.

        False if lines of its file are out of order or often unreadable, or if the end of its own line may be cut off.
        """
        return event.file not in self.left_out and not (event.doubtful and event.file in self.doubted)


def attributed(request: "AuditRequest", files: Sequence[LogFacts]) -> Attribution:
    """Find the brokers of all files and origins.

    Raises AuditError if the files are from several clusters, or if --broker finds no broker.
    """
    clusters = {cluster: facts.file for facts in files for cluster in sorted(_clusters(facts))}
    if len(clusters) > 1:
        told = ", ".join(f"{cluster} in {file}" for cluster, file in sorted(clusters.items())[:_NAMED])
        raise AuditError(
            f"the logs come from {len(clusters)} clusters ({told}); audit the logs of one cluster at a time"
        )
    by_path, by_origin = _by_pattern(request.broker, files)
    in_directory: dict[str, set[int]] = {}
    for facts in files:
        in_directory.setdefault(_directory(facts.file), set()).update(facts.brokers)
    brokers = {}
    for facts in files:
        own = facts.brokers or in_directory[_directory(facts.file)]
        if facts.file in by_path:
            brokers[facts.file] = by_path[facts.file]
        elif len(own) == 1:
            brokers[facts.file] = next(iter(own))
    origins: dict[tuple[str, str], int | None] = dict(_learned(files, by_path))
    undated = _undated(files, brokers)
    newest_first = frozenset(f.file for f in files if f.is_newest_first)
    clocks_back = [f for f in files if f.back is not None and f.file not in newest_first]
    back = {broker for f in clocks_back for broker in (*f.brokers, *_known(brokers, f.file))}
    releases = [release for f in files for release in releases_of(f)]
    majors = [int(release.split(".")[0]) for release in releases if re.fullmatch(r"\d{1,4}", release.split(".")[0])]
    return Attribution(
        brokers=brokers,
        origins={**origins, **by_origin},
        left_out=frozenset(facts.file for facts in files if not (facts.is_in_order and facts.is_whole)),
        doubted=frozenset(facts.file for facts in files if not facts.is_trusted),
        newest_first=newest_first,
        clocks_back=frozenset(back | undated),
        undated=frozenset(undated),
        newest=max(majors, default=None),
        is_one_cluster=len(clusters) == 1 and _all_name_a_cluster(files),
    )


def releases_of(facts: LogFacts) -> set[str]:
    """Return the Kafka releases that a file names. Leaves out a release that may be cut off at the end of its line."""
    return facts.releases | (facts.doubtful_releases if facts.is_trusted else set())


def _clusters(facts: LogFacts) -> set[str]:
    return facts.clusters | (facts.doubtful_clusters if facts.is_trusted else set())


def _all_name_a_cluster(files: Sequence[LogFacts]) -> bool:
    """Return whether every directory with log files of brokers also has a file that names their cluster."""
    named = {_directory(facts.file) for facts in files if _clusters(facts)}
    return all(_directory(facts.file) in named for facts in files if facts.events)


def _by_pattern(pattern: str | None, files: Sequence[LogFacts]) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    if pattern is None:
        return {}, {}
    expression = expression_of(pattern)
    by_path = {f.file: broker for f in files if (broker := broker_in(f.file, expression)) is not None}
    by_origin = {
        (f.file, origin): broker
        for f in files
        for origin in f.origins
        if (broker := broker_in(origin, expression)) is not None
    }
    if not by_path and not by_origin:
        before = next((f"; a line begins with {origin!r}" for f in files for origin in f.origins), "")
        raise AuditError(
            f"--broker: {pattern!r} finds no broker number, neither in the path of a file nor before a line; the first"
            f" file is {files[0].file}{before}. Try 'broker-([0-9]+)', with the name of your directories or containers"
        )
    return by_path, by_origin


def _learned(files: Sequence[LogFacts], by_path: Mapping[str, int]) -> Iterator[tuple[tuple[str, str], int | None]]:
    """Yield pairs of (file, origin) and the broker of this origin, or None if the broker is uncertain.

    A name in an origin stands for a broker if each origin whose lines name the broker contains the name, and no origin
    whose lines name another broker contains the name. An origin without such a name is left out. But if a name in this
    origin differs from a known name only in its numbers, the broker of the origin is uncertain. `by_path` has the
    brokers of files whose path names the broker. These files are skipped.
    """
    everywhere = _names_of_brokers(files)
    for facts in files:
        if facts.file in by_path:
            continue
        own = _names_of_brokers([facts])
        names = own or everywhere
        shapes = {_shape(name) for name in own}
        known = {name for origin, brokers in facts.origins.items() if brokers for name in _names(origin)}
        for origin, named in facts.origins.items():
            brokers = named or sorted({names[name] for name in _names(origin) if name in names})
            # For example, kafka-2 may be another broker if lines name only the broker of kafka-1.
            is_other = not named and any(_shape(name) in shapes for name in _names(origin) - known)
            if len(brokers) == 1 and not is_other:
                yield (facts.file, origin), brokers[0]
            elif is_other or len(brokers) > 1:
                yield (facts.file, origin), None


def _names_of_brokers(files: Sequence[LogFacts]) -> dict[str, int]:
    """Return the names that stand for a single broker, each with the number of that broker."""
    by_broker: dict[int, list[set[str]]] = {}
    for facts in files:
        for origin, brokers in facts.origins.items():
            for broker in brokers:
                by_broker.setdefault(broker, []).append(set(_names(origin)))
    return {
        name: broker
        for broker, own in by_broker.items()
        for name in set.intersection(*own)
        if not any(name in names for other, each in by_broker.items() if other != broker for names in each)
    }


@lru_cache(4096)
def _names(origin: str) -> frozenset[str]:
    return frozenset(origin.replace(";", " ").split())


def _shape(name: str) -> str:
    return re.sub(r"\d+", "0", name)


def _undated(files: Sequence[LogFacts], brokers: Mapping[str, int]) -> set[int]:
    """Return the brokers that have undated lines in several kinds of files, such as server.log and state-change.log."""
    kinds: dict[int, set[str]] = {}
    for facts in files:
        if facts.events and facts.undated:
            for broker in {*facts.brokers, *_known(brokers, facts.file)}:
                kinds.setdefault(broker, set()).add(stem(facts.file))
    return {broker for broker, stems in kinds.items() if len(stems) > 1}


def _known(brokers: Mapping[str, int], file: str) -> list[int]:
    return [brokers[file]] if file in brokers else []


def _directory(file: str) -> str:
    return str(PurePath(file).parent)
