"""Releases: what each of them, and each generation, keeps and breaks, as the last survey found it (survey.py)."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from epochfuzz.model.configuration import Configuration
from epochfuzz.model.mechanisms import requests_isr_changes
from epochfuzz.model.properties import applying
from epochfuzz.model.protocols import NAMED, Protocol
from epochfuzz.model.state import initial

FILE = Path(__file__).with_name("survey.yaml")

# Complete searches, one after the other for what is not broken yet: a schedule that breaks a property is a shortest one
# for that many replicas. Then walks, whose findings are certified within the bounds that their schedules need.
SEARCHED = (Configuration(records=3, epochs=3), Configuration(replicas=3, records=1, epochs=3))
# Of protocols that change the ISR by request, for which there are many times as many states.
SEARCHED_WITH_REQUESTS = (Configuration(records=1, epochs=2), Configuration(replicas=3, records=1, epochs=1))
WALKED = Configuration(replicas=3)
SCHEDULES = 1_000_000


def searched(protocol: Protocol) -> tuple[Configuration, ...]:
    """The bounds within which a protocol is searched completely."""
    return SEARCHED_WITH_REQUESTS if requests_isr_changes(protocol.constants) else SEARCHED


@dataclass(frozen=True)
class Broken:
    """A schedule, in a configuration, that breaks a property, and whether none within its bounds is shorter."""

    settings: Configuration
    events: tuple[str, ...]
    is_minimal: bool


@dataclass(frozen=True)
class Verdicts:
    """What was found of one protocol: what it breaks, and which of the searches for all else were complete."""

    broken: dict[str, Broken]
    complete: tuple[bool, ...]


@functools.cache
def surveyed() -> dict[str, Verdicts]:
    """What the last survey found, by protocol."""
    written = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return {name: _verdicts(**row) for name, row in written.items()}


# What can break where nothing is asked for but replicas, under one protocol or another.
JUDGED = applying(*(initial(protocol, Configuration()) for protocol in NAMED.values()))
HEAD = ("protocol", *JUDGED)

SHORT = ("no-committed-loss", "no-divergence", "isr-complete", "convergence")  # for the README

LEGEND = (
    "A number is the length of a shortest schedule that breaks the property, with the number of replicas that it needs"
    f" in brackets, if that is not {SEARCHED[0].replicas}; with ≤ it is the shortest known. What holds was broken by"
    f" neither complete search of small bounds nor {SCHEDULES:,} random schedules with {SEARCHED[-1].replicas}"
    " replicas, nor by what breaks another protocol; in brackets are the replicas of the searches that were complete,"
    " if not all were."
)


def bounds() -> Iterator[str]:
    """The bounds of each complete search, in words; the last ones are of protocols that change the ISR by request."""
    for settings in (*SEARCHED, *SEARCHED_WITH_REQUESTS):
        records = "1 record" if settings.records == 1 else f"{settings.records} records"
        yield f"{settings.replicas} replicas, {records}, {settings.epochs} epoch changes"


def rows() -> list[list[str]]:
    """A row for each protocol, a cell for each property."""
    return [[name, *(cell(name, verdicts, each) for each in JUDGED)] for name, verdicts in surveyed().items()]


def short_rows() -> list[list[str]]:
    """Head and rows of the table in short: a column for each of SHORT."""
    chosen = [0, *(HEAD.index(name) for name in SHORT)]
    return [[row[i] for i in chosen] for row in (list(HEAD), *rows())]


def holding(protocol: str, verdicts: Verdicts) -> list[str]:
    """The properties that a protocol keeps, of those that could break."""
    judged = applying(initial(NAMED[protocol], Configuration()))
    return [name for name in judged if name not in verdicts.broken]


def cell(protocol: str, verdicts: Verdicts, property_: str) -> str:
    """`holds`, or in how many events it breaks, such as `12 (3)` with three; `-` where nothing could break it."""
    broken = verdicts.broken.get(property_)
    if broken is None and property_ not in holding(protocol, verdicts):
        return "-"
    if broken is None:
        return "holds" if all(verdicts.complete) else f"holds ({SEARCHED[0].replicas})"
    return f"{'' if broken.is_minimal else '≤ '}{len(broken.events)}{_needed(broken.settings)}"


def _needed(settings: Configuration) -> str:
    return "" if settings.replicas == SEARCHED[0].replicas else f" ({settings.replicas})"


def broken() -> Iterator[tuple[str, str, Broken]]:
    """Protocol, property and how it breaks, for all that breaks."""
    for name, verdicts in surveyed().items():
        for property_, how in verdicts.broken.items():
            yield name, property_, how


def _verdicts(broken: dict[str, dict[str, Any]], complete: list[bool]) -> Verdicts:
    return Verdicts({name: _broken(**each) for name, each in broken.items()}, tuple(complete))


def _broken(config: dict[str, Any], events: list[str], minimal: bool) -> Broken:
    return Broken(Configuration(**config), tuple(events), minimal)
