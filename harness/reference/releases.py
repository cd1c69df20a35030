"""Read survey.yaml: the properties that each protocol holds or breaks, as found by the last survey (lab/survey.py)."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from epochfuzz.harness.reference import checked
from epochfuzz.harness.text.yaml_text import parsed
from epochfuzz.harness.trace.causes import Causes, causes
from epochfuzz.model.kafka.contract.properties import applying
from epochfuzz.model.kafka.vocabulary import versions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.in_force import requests_isr_changes
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, NAMED, Protocol, parse_protocol
from epochfuzz.model.kafka.vocabulary.state import initial

FILE = Path(__file__).with_name("survey.yaml")

# The bounds of the exhaustive searches: numbers of records and of epoch changes.
SEARCHED = (Configuration(records=2, epochs=2), Configuration(records=3, epochs=3))
SEARCHED_WITH_THREE = (Configuration(replicas=3, records=1, epochs=2), Configuration(replicas=3, records=1, epochs=3))
# The bounds for protocols that change the ISR by request. These protocols have many times as many states.
SEARCHED_WITH_REQUESTS = (Configuration(records=1, epochs=2), Configuration(records=2, epochs=2))
SEARCHED_WITH_REQUESTS_AND_THREE = (Configuration(replicas=3, records=1, epochs=1),)
# For properties that need clients: producers that retry, consumers that keep a position, transactions.
WITH_CLIENTS = (
    Configuration(records=2, epochs=2, retries=True),
    Configuration(records=2, epochs=2, consumer=True, unclean_leader_election=True),
    Configuration(records=1, epochs=2, transactions=True),
)
REPLICAS = (2, 3)  # numbers of replicas for the searches for shorter schedules
# The bounds of a second search for shorter schedules, if the search without bounds on records and epochs does not end.
WITHIN = Configuration(records=3, epochs=3)
WALKED = Configuration(replicas=3)
SCHEDULES = 1_000_000
SCHEDULES_WITH_CLIENTS = 200_000


def searched(protocol: Protocol) -> tuple[Configuration, ...]:
    """Return the bounds of the survey's exhaustive searches under a protocol, as configurations."""
    if requests_isr_changes(protocol.constants):
        return (*SEARCHED_WITH_REQUESTS, *SEARCHED_WITH_REQUESTS_AND_THREE)
    return (*SEARCHED, *SEARCHED_WITH_THREE)


@dataclass(frozen=True)
class Broken:
    """The shortest known schedule that breaks a property under a protocol, with its configuration.

    `searched` maps a number of replicas to a length in events. With that number of replicas, no schedule that is
    shorter than this length breaks the property, for any number of records and epochs. `within` is the same for
    schedules with at most as many records and epoch changes as WITHIN has. If the last search ended too early for a
    proof, `estimated` maps the number of replicas to the estimated number of states of the whole search.
    """

    settings: Configuration
    events: tuple[str, ...]
    searched: dict[int, int] = field(default_factory=dict)
    within: dict[int, int] = field(default_factory=dict)
    estimated: dict[int, int] = field(default_factory=dict)

    @property
    def is_minimal(self) -> bool:
        """Return whether searches with each number of replicas in REPLICAS prove that no schedule is shorter."""
        return self._covers(self.searched)

    @property
    def is_minimal_within(self) -> bool:
        """Return whether these searches prove that no schedule within the bounds of WITHIN is shorter."""
        return self._covers(self.within)

    @property
    def is_proven(self) -> bool:
        """Return whether the searches prove that no schedule is shorter, for any bounds or within those of WITHIN."""
        return self.is_minimal or self.is_minimal_within

    def _covers(self, searched: dict[int, int]) -> bool:
        return all(searched.get(replicas, 0) >= len(self.events) for replicas in REPLICAS)

    def causes(self, protocol: Protocol, property_: str) -> Causes:
        """Return the protocol choices that the schedule needs in order to break the property."""
        return causes(parse_schedule(self.events), protocol, self.settings, property_)


@dataclass(frozen=True)
class ReleaseVerdicts:
    """The survey's results for one protocol.

    `broken` maps each broken property to its shortest schedule. `judged` lists the checked properties. `complete` lists
    the bounds of the searches that visited all states. `digest` is the digest of the protocol's rules
    (rules_digest.py).
    """

    broken: dict[str, Broken]
    judged: tuple[str, ...]
    complete: tuple[Configuration, ...]
    digest: str


@functools.cache
def surveyed() -> dict[str, ReleaseVerdicts]:
    """Return the results of the last survey, by the protocol's name."""
    written = parsed(FILE.read_text(encoding="utf-8"))
    return {name: _verdicts(**row) for name, row in written.items()}


# The properties that can break in the default configuration, under at least one protocol.
JUDGED = applying(*(initial(protocol, Configuration()) for protocol in NAMED.values()))
HEAD = ("protocol", *JUDGED)

SHORT = ("no-committed-loss", "no-divergence")  # for the README

LEGEND = (
    "A number is the length, in events, of a shortest schedule that breaks the property. A second number, in brackets,"
    f" is the number of replicas, if the schedule needs more than {REPLICAS[0]} replicas. Searches with"
    f" {' and '.join(map(str, REPLICAS))} replicas prove that no schedule is shorter, for any number of records and"
    f" elections. With an asterisk, the proof covers schedules with at most {WITHIN.records} records and"
    f" {WITHIN.epochs} epoch changes. After ≤, the number is the length of the shortest known schedule, without a"
    " proof. *Holds* means that no schedule broke the property in complete searches within small bounds, among"
    f" {SCHEDULES:,} random schedules with {WALKED.replicas} replicas, or among the schedules that the project keeps. A"
    " number in brackets after *holds* means that only the searches with this number of replicas were complete. A dash"
    " means that the property cannot break under the protocol. A question mark means that the survey did not check the"
    " property."
)


def bounds() -> str:
    """Return a sentence with the bounds of the exhaustive searches, such as `3/1/2`: 3 replicas, 1 record, 2 epochs."""

    def text(*searches: Configuration) -> str:
        *most, last = (f"{each.replicas}/{each.records}/{each.epochs}" for each in searches)
        return f"{', '.join(most)} and {last}"

    return (
        "The bounds of the searches, as replicas/records/epoch changes, are"
        f" {text(*SEARCHED, *SEARCHED_WITH_THREE)} for protocols that write the ISR to ZooKeeper, and"
        f" {text(*SEARCHED_WITH_REQUESTS, *SEARCHED_WITH_REQUESTS_AND_THREE)} for protocols with AlterPartition"
        " requests."
    )


def versions_of(protocol: str) -> str:
    """Return the versions of Kafka that a release stands for, as text. For a reference design: `a repaired design`."""
    return "a repaired design" if protocol in GENERATIONS else versions.span(protocol)


def rows() -> list[list[str]]:
    """Return the rows of the release matrix: one for each protocol, with a cell for each property."""
    return [[name, *(cell(name, verdicts, each) for each in JUDGED)] for name, verdicts in surveyed().items()]


def short_rows() -> list[list[str]]:
    """Return the head and the rows of the README's table, with a column for each property of SHORT.

    Releases that follow each other and have equal cells share a row.
    """
    chosen = [HEAD.index(name) for name in SHORT]
    shown = [row for row in rows() if row[0] not in GENERATIONS]
    groups = [
        (cells, [row[0] for row in equal]) for cells, equal in groupby(shown, lambda row: [row[i] for i in chosen])
    ]
    return [
        ["Kafka", *SHORT, checked.COLUMN],
        *([versions.span(*names), *cells, checked.checked_in_short(names)] for cells, names in groups),
    ]


def checked_rows() -> list[list[str]]:
    """Return the head and the rows of a table of releases, with the versions and the checked jars of each release."""
    names = [name for name in surveyed() if name not in GENERATIONS]
    return [
        ["release", "stands for", checked.COLUMN],
        *([name, versions_of(name), checked.checked_on(name)] for name in names),
    ]


def holding(protocol: str, verdicts: ReleaseVerdicts) -> list[str]:
    """Return the properties that a protocol holds.

    The protocol could break each of these properties, but the survey found no schedule that does.
    """
    could_break = applying(initial(parse_protocol(protocol), Configuration()))
    return [name for name in could_break if name not in verdicts.broken and name in verdicts.judged]


def cell(protocol: str, verdicts: ReleaseVerdicts, property_: str) -> str:
    """Return a cell of the release matrix, such as `holds`, `9`, or `12 (3)` for 12 events with 3 replicas.

    A number is the length of the shortest known schedule. `*` after the number means that a shorter schedule has more
    records or epoch changes than WITHIN, and `≤` in front of it that any shorter schedule may exist. The cell is `-` if
    the property cannot break under the protocol, and `?` if the survey did not check it.
    """
    broken = verdicts.broken.get(property_)
    if broken is not None:
        return f"{_length(broken)}{_needed(broken.settings)}"
    if property_ not in applying(initial(parse_protocol(protocol), Configuration())):
        return "-"
    if property_ not in verdicts.judged:
        return "?"
    complete = {settings.replicas for settings in verdicts.complete}
    return (
        "holds" if complete.issuperset(REPLICAS) else f"holds ({', '.join(map(str, sorted(complete))) or 'no search'})"
    )


def _length(broken: Broken) -> str:
    length = len(broken.events)
    if broken.is_minimal:
        return str(length)
    return f"{length}*" if broken.is_minimal_within else f"≤ {length}"


def _needed(settings: Configuration) -> str:
    return "" if settings.replicas == REPLICAS[0] else f" ({settings.replicas})"


def broken() -> Iterator[tuple[str, str, Broken]]:
    """Yield the broken properties of the survey, as (protocol, property, shortest schedule)."""
    for name, verdicts in surveyed().items():
        for property_, how in verdicts.broken.items():
            yield name, property_, how


def _verdicts(
    broken: dict[str, dict[str, Any]], judged: list[str], complete: list[dict[str, Any]], digest: str
) -> ReleaseVerdicts:
    found = {name: _broken(**each) for name, each in broken.items()}
    return ReleaseVerdicts(found, tuple(judged), tuple(Configuration(**each) for each in complete), digest)


def _broken(
    config: dict[str, Any],
    events: list[str],
    searched: dict[int, int],
    within: dict[int, int],
    estimated: dict[int, int],
) -> Broken:
    return Broken(Configuration(**config), tuple(events), searched, within, estimated)
