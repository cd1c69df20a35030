"""The survey of releases: which of them keeps which property, within which bounds, or breaks it in how many events.

`python -m epochfuzz.harness.reference.survey [PROTOCOL ...]`, in a checkout, makes it anew, for some protocols or all:
an hour or so. What it finds is in survey.yaml beside this file, from which the page of releases and
`epochfuzz explain releases` are made.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from epochfuzz.harness.reference.releases import FILE, SCHEDULES, WALKED, Broken, Verdicts, searched, surveyed
from epochfuzz.harness.search import shrink
from epochfuzz.harness.search.canonical import canonical
from epochfuzz.harness.search.explore import explore
from epochfuzz.harness.search.findings import breaches
from epochfuzz.harness.search.walk import Walker
from epochfuzz.model import properties
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import parse_schedule, schedule_texts
from epochfuzz.model.execution import Execution
from epochfuzz.model.protocols import NAMED, Protocol

MEMORY = 2 << 30  # bytes for a search: where that is not enough, it is not complete
CERTIFIED_WITHIN = 8 << 30  # bytes: what walks found is within reach, or is not certified


def survey(protocol: Protocol) -> Verdicts:
    """Search and walk a protocol."""
    broken: dict[str, Broken] = {}
    complete = []
    for settings in searched(protocol):
        found, is_complete = search(protocol, settings, [name for name in properties.NAMES if name not in broken])
        broken |= found
        complete.append(is_complete)
    broken |= walk(protocol, [name for name in properties.NAMES if name not in broken])
    return Verdicts({name: broken[name] for name in properties.NAMES if name in broken}, tuple(complete))


def walk(protocol: Protocol, names: Sequence[str]) -> dict[str, Broken]:
    """The properties, of those named, that random schedules break, shrunk, and certified as far as memory goes."""
    walker = Walker([protocol], WALKED, seed=0)
    shrunk: dict[int, bytes] = {}
    for breach in breaches([protocol], WALKED, walker.walk(0, SCHEDULES)):
        if breach.property in names:
            wanted = properties.named(breach.property).bit
            failing = (walker.failing(each, protocol, breach.property) for each in breach.failures)
            shrunk[wanted] = min((shrink.shrink(each, protocol, WALKED, wanted) for each in failing), key=len)
    reached = shrink.all_within_reach(shrunk, protocol, WALKED, CERTIFIED_WITHIN)
    broken = {}
    for wanted, found in reached.items():
        schedule = canonical(found.schedule if found else shrunk[wanted], protocol, WALKED, wanted)
        (name,) = properties.names(wanted)
        broken[name] = Broken(WALKED, tuple(schedule_texts(schedule)), found is not None)
    return broken


def search(protocol: Protocol, settings: Configuration, names: Sequence[str]) -> tuple[dict[str, Broken], bool]:
    """The properties, of those named, that break within the bounds, and whether all is searched for the others."""
    broken: dict[str, Broken] = {}
    remaining = properties.set_of(names)
    while remaining:
        found = explore(protocol, settings, remaining, memory=MEMORY)
        if found.shortest is None:
            return broken, found.complete
        at_its_end = broken_by(protocol, settings, found.shortest) & remaining
        events = tuple(schedule_texts(found.shortest))
        broken |= dict.fromkeys(properties.names(at_its_end), Broken(settings, events, is_minimal=True))
        remaining &= ~at_its_end
    return broken, True


def shared(rows: Mapping[str, Verdicts]) -> dict[str, Verdicts]:
    """The same, where what broke one protocol is tried on all: a schedule may be shorter than the shortest known."""
    return {name: replace(row, broken=dict(_shortest(NAMED[name], row, rows.values()))) for name, row in rows.items()}


def _shortest(protocol: Protocol, own: Verdicts, rows: Iterable[Verdicts]) -> Iterator[tuple[str, Broken]]:
    """What breaks a protocol, by property, in their order: the shortest of its own and of what breaks others."""
    for each in properties.PROPERTIES:
        mine = own.broken.get(each.name)
        if mine is not None and mine.is_minimal:
            yield each.name, mine
            continue
        tried = [row.broken[each.name] for row in rows if each.name in row.broken]
        also = [broken for theirs in tried if (broken := _tried(protocol, each.bit, theirs))]
        known = [mine, *also] if mine is not None else also
        if known:
            yield each.name, min(known, key=lambda broken: len(broken.events))


def _tried(protocol: Protocol, wanted: int, how: Broken) -> Broken | None:
    """The schedule of another protocol as it breaks this one, None where it does not."""
    events = shrink.breaking_prefix(parse_schedule(how.events), protocol, how.settings, wanted)
    return None if events is None else Broken(how.settings, tuple(schedule_texts(events)), is_minimal=False)


def broken_by(protocol: Protocol, settings: Configuration, schedule: bytes) -> int:
    """The set of properties that are broken at the end of a schedule."""
    execution = Execution(protocol, settings)
    for event in schedule:
        execution.apply(event)
    return sum(each.bit for each in properties.PROPERTIES if execution.breaks(each.bit))


def _plain(verdicts: Verdicts) -> dict[str, Any]:
    broken = {
        name: {"config": each.settings.changed(), "minimal": each.is_minimal, "events": list(each.events)}
        for name, each in verdicts.broken.items()
    }
    return {"broken": broken, "complete": list(verdicts.complete)}


def _write(rows: Mapping[str, Verdicts]) -> None:
    plain = {name: _plain(row) for name, row in rows.items()}
    FILE.write_text(yaml.safe_dump(plain, sort_keys=False, width=120), encoding="utf-8")


if __name__ == "__main__":
    rows = dict(surveyed()) if FILE.exists() else {}
    for wanted in sys.argv[1:] or NAMED:
        rows[wanted] = survey(NAMED[wanted])
        rows = {name: rows[name] for name in NAMED if name in rows}
        _write(rows)
        print(wanted, {name: len(each.events) for name, each in rows[wanted].broken.items()}, flush=True)
    _write(shared(rows))
