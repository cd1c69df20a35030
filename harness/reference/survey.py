"""The survey of releases: which of them keeps which property, within which bounds, or breaks it in how many events.

`python -m epochfuzz.harness.reference.survey [PROTOCOL ...]`, in a checkout, makes it anew, for some protocols or all:
an hour or so. What it finds is in survey.yaml beside this file, from which the page of releases and
`epochfuzz explain releases` are made.
"""

import sys
from collections.abc import Sequence
from typing import Any

import yaml

from epochfuzz.harness.reference.releases import FILE, WALKED, Broken, Verdicts, schedules, searched
from epochfuzz.harness.search.explore import explore
from epochfuzz.harness.search.findings import breaches, finding
from epochfuzz.harness.search.walk import Walker
from epochfuzz.model import properties
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import schedule_texts
from epochfuzz.model.execution import Execution
from epochfuzz.model.protocols import NAMED, Protocol

MEMORY = 2 << 30  # bytes for a search: where that is not enough, it is not complete
CERTIFIED_WITHIN = 1 << 28  # bytes for the search that certifies what walks found


def survey(protocol: Protocol) -> Verdicts:
    """Search and walk a protocol."""
    broken: dict[str, Broken] = {}
    complete = []
    for settings in searched(protocol):
        found, is_complete = search(protocol, settings, [name for name in properties.NAMES if name not in broken])
        broken |= found
        complete.append(is_complete)
    walker = Walker([protocol], WALKED, seed=0)
    for breach in breaches([protocol], WALKED, walker.walk(0, schedules(protocol))):
        if breach.property not in broken:
            reproducer = finding(walker, breach, CERTIFIED_WITHIN).reproducer
            events = tuple(schedule_texts(reproducer.schedule))
            broken[breach.property] = Broken(WALKED, events, reproducer.certified_minimal)
    return Verdicts({name: broken[name] for name in properties.NAMES if name in broken}, tuple(complete))


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


if __name__ == "__main__":
    rows = yaml.safe_load(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for wanted in sys.argv[1:] or NAMED:
        rows[wanted] = _plain(survey(NAMED[wanted]))
        in_order = {name: rows[name] for name in NAMED if name in rows}
        FILE.write_text(yaml.safe_dump(in_order, sort_keys=False, width=120), encoding="utf-8")
        print(wanted, {name: len(each["events"]) for name, each in rows[wanted]["broken"].items()}, flush=True)
