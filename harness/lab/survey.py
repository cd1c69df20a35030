"""Survey the releases: find the properties that each release breaks in the model, with the shortest schedules.

`python -m epochfuzz.harness.lab.survey [PROTOCOL ...]`, in a checkout, repeats the survey for the named protocols.
Without a name, it repeats the survey for the protocols whose rules have changed since their last survey. A survey of
all protocols takes some hours. The results are in harness/reference/survey.yaml. The documentation's page of releases
and `epochfuzz explain releases` show them.

With `--budget 10m`, a search for shorter schedules ends after ten minutes. With `--spark DIRECTORY`, Spark continues
where a search ran out of time or memory: it keeps the states on disk, in a subdirectory for each search, and resumes a
search that was stopped.
"""

import argparse
import functools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cli.options import parse_duration
from epochfuzz.harness.cli.output import BadInput
from epochfuzz.harness.engine.shrink import shrink
from epochfuzz.harness.engine.shrink.canonical import canonical
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.findings.findings import breaches
from epochfuzz.harness.lab.survey_search import Budget, SearchEnd, search
from epochfuzz.harness.reference.explain import glossary
from epochfuzz.harness.reference.releases import (
    FILE,
    JUDGED,
    REPLICAS,
    SCHEDULES,
    SCHEDULES_WITH_CLIENTS,
    WALKED,
    WITH_CLIENTS,
    WITHIN,
    Broken,
    ReleaseVerdicts,
    searched,
    surveyed,
)
from epochfuzz.harness.reference.rules_digest import rules_digest
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.properties import Property, applying
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, NAMED, RELEASES, Protocol
from epochfuzz.model.kafka.vocabulary.state import initial

WITHIN_BOUNDS = Budget(memory=1 << 30)  # of a search within bounds; a search that needs more is not complete
TO_SHORTEN = Budget(memory=4 << 30)  # of a search for shorter schedules

CORPUS = Path(__file__).resolve().parents[2] / "corpus"

Kept = tuple[Configuration, tuple[str, ...]]  # a schedule that the project keeps, and its configuration


class Surveyor:
    """The survey of one protocol: searches for broken properties, and for the shortest schedules that break them.

    `kept` has known schedules with their configurations. The survey runs them first. `budget` limits each search for
    shorter schedules.
    """

    def __init__(self, protocol: Protocol, kept: Sequence[Kept], budget: Budget = TO_SHORTEN) -> None:
        self.protocol = protocol
        self.budget = budget
        self.broken: dict[str, Broken] = {}
        self.judged = set(applying(initial(protocol, Configuration())))
        self.complete: list[Configuration] = []
        for settings, events in kept:
            self.take(settings, events)

    def survey(self) -> ReleaseVerdicts:
        """Run random schedules and exhaustive searches. Returns all results, without the searches of `deepen`."""
        self._walk(WALKED, SCHEDULES)
        for settings in searched(self.protocol):
            self._search(settings)
        for settings in WITH_CLIENTS:
            self._with_clients(settings)
        judged = tuple(name for name in properties.NAMES if name in self.judged)
        return ReleaseVerdicts(self.found(), judged, tuple(self.complete), rules_digest(self.protocol, judged))

    def deepen(self) -> dict[str, Broken]:
        """Search for shorter schedules. Returns the shortest schedules, by property.

        The first searches have no bounds on records and epochs. For a property of the table of releases whose schedule
        is not certain to be the shortest after these searches, and fits in the bounds of WITHIN, searches within these
        bounds follow. The method repeats no search that a row already records, unless the search ended early and the
        row lacks the estimate for it.
        """
        for replicas in REPLICAS:
            self._look_for_shorter(replicas)
        for replicas in REPLICAS:
            self._look_for_shorter_within(replicas)
        return self.found()

    def found(self) -> dict[str, Broken]:
        """Return the shortest known schedules, by property, in the order of the properties."""
        return {name: self.broken[name] for name in properties.NAMES if name in self.broken}

    def take(self, settings: Configuration, events: tuple[str, ...]) -> None:
        """Run a schedule. For each property that it breaks, record the events up to the violation.

        Only the properties that the survey covers in this configuration count.
        """
        schedule = parse_schedule(events)
        for each in properties.PROPERTIES:
            if not is_of_the_survey(each, settings) or each.name in properties.permitted(settings):
                continue
            prefix = shrink.breaking_prefix(schedule, self.protocol, settings, each.bit)
            if prefix is not None:
                self._note(each.bit, settings, prefix)

    def _note(self, wanted: int, settings: Configuration, schedule: bytes) -> None:
        """Record a schedule that breaks a property, if it is shorter than the schedule known so far.

        `wanted` is the property's bit. The schedule is recorded in canonical form (see canonical.py).
        """
        (name,) = properties.names(wanted)
        known = self.broken.get(name)
        if known is None or len(schedule) < len(known.events):
            free = replace(settings, records=Configuration.records, epochs=Configuration.epochs)
            settings = free if shrink.breaking_prefix(schedule, self.protocol, free, wanted) == schedule else settings
            simplest = canonical(schedule, self.protocol, settings, wanted)
            found = Broken(settings, tuple(schedule_texts(simplest)))
            if known is not None:  # What a search excludes for the known schedule stays excluded.
                found.searched.update(_at_most(len(schedule), known.searched))
                found.within.update(_at_most(len(schedule), known.within))
            self.broken[name] = found

    def _walk(self, settings: Configuration, schedules: int) -> None:
        """Run a number of random schedules, and record the shortest shrunk schedule of each broken property."""
        walker = Walker([self.protocol], settings, seed=0)
        for breach in breaches([self.protocol], settings, walker.walk(0, schedules)):
            wanted = properties.named(breach.property).bit
            failing = (walker.failing(each, self.protocol, breach.property) for each in breach.failures)
            shrunk = min((shrink.shrink(each, self.protocol, settings, wanted) for each in failing), key=len)
            if is_of_the_survey(properties.named(breach.property), settings):
                self._note(wanted, settings, shrunk)

    def _search(self, settings: Configuration) -> None:
        """Search exhaustively, within the bounds of `settings`, for violations and for shorter schedules."""
        ended = self._explore(settings, sorted(self.judged), WITHIN_BOUNDS)
        if all(self._is_covered(name, each) for name, each in ended.items()):
            self.complete.append(settings)

    def _with_clients(self, settings: Configuration) -> None:
        """Search for violations of the properties that need clients, such as the properties of transactions."""
        names = [
            name
            for name in applying(initial(self.protocol, settings))
            if is_of_the_survey(properties.named(name), settings)
        ]
        if names:
            self.judged |= set(names)
            ended = self._explore(settings, names, WITHIN_BOUNDS)
            if all(self._is_covered(name, each) for name, each in ended.items()):
                self.complete.append(settings)
            free = replace(settings, replicas=3, records=Configuration.records, epochs=Configuration.epochs)
            self._walk(free, SCHEDULES_WITH_CLIENTS)

    def _look_for_shorter(self, replicas: int) -> None:
        """Search for schedules shorter than the known ones, with any number of records and epochs."""
        for settings in {replace(each.settings, replicas=replicas): None for each in self.broken.values()}:
            names = [
                name
                for name, each in self.broken.items()
                if replace(each.settings, replicas=replicas) == settings
                and (replicas not in each.searched or (not self._fits(name) and self._lacks_estimate(name, replicas)))
            ]
            for name, end in self._explore(settings, names, self.budget, bounded=False).items():
                self._record(name, end, replicas, self.broken[name].searched)

    def _look_for_shorter_within(self, replicas: int) -> None:
        """Search for schedules shorter than the known ones, within the bounds of WITHIN, for the table of releases."""
        names = [
            name
            for name, each in self.broken.items()
            if name in JUDGED and not each.is_minimal and self._fits(name)
            and (replicas not in each.within or self._lacks_estimate(name, replicas))
        ]  # fmt: skip
        for name, end in self._explore(replace(WITHIN, replicas=replicas), names, self.budget).items():
            self._record(name, end, replicas, self.broken[name].within)

    def _lacks_estimate(self, name: str, replicas: int) -> bool:
        """Return whether the length of the property's schedule is not proven, and no estimate says how far that is."""
        known = self.broken[name]
        excluded = known.within if self._fits(name) else known.searched
        is_open = excluded.get(replicas, 0) < len(known.events) and not known.is_proven
        return name in JUDGED and is_open and replicas not in known.estimated

    def _record(self, name: str, end: SearchEnd, replicas: int, excluded: dict[int, int]) -> None:
        """Record a search for schedules that are shorter than the known schedule of a property, and its estimate.

        `excluded` maps a number of replicas to a length in events: searches have excluded all shorter schedules.
        """
        known = self.broken[name]
        length = len(known.events) if self._is_covered(name, end) else end.covered + 1
        excluded[replicas] = max(excluded.get(replicas, 0), length)
        known.estimated.pop(replicas, None)
        if name in JUDGED and end.states is not None:
            known.estimated[replicas] = end.states

    def _is_covered(self, name: str, end: SearchEnd) -> bool:
        """Return whether a search covered all schedules that are shorter than the known schedule of a property."""
        return end.shortest is not None or end.covered >= self._depth(name)

    def _fits(self, name: str) -> bool:
        """Return whether the property's shortest known schedule stays within the bounds of WITHIN."""
        known = self.broken[name]
        settings = replace(WITHIN, replicas=known.settings.replicas)
        schedule = parse_schedule(known.events)
        return shrink.breaking_prefix(schedule, self.protocol, settings, properties.named(name).bit) == schedule

    def _explore(
        self, settings: Configuration, names: Sequence[str], budget: Budget, *, bounded: bool = True
    ) -> dict[str, SearchEnd]:
        """Search exhaustively for violations of several properties. Returns the end of the search, by property name.

        One search covers all properties that are checked after every event. A property that is checked only at the end
        needs a search of its own.
        """
        together = [name for name in names if not properties.named(name).at_end]
        alone = [[name] for name in names if properties.named(name).at_end]
        ended: dict[str, SearchEnd] = {}
        for group in ([together] if together else []) + alone:
            depths = {properties.named(name).bit: self._depth(name) for name in group}
            within = settings if bounded else settings.bounded_by(max(depths.values()))
            for wanted, end in search(self.protocol, within, depths, budget).items():
                (name,) = properties.names(wanted)
                ended[name] = end
                if end.shortest is not None:
                    self._note(wanted, settings, end.shortest)
        return ended

    def _depth(self, name: str) -> int:
        """Return the greatest length of a schedule that the search for a property has to try, in events.

        The length is one less than the length of the shortest known schedule, or sys.maxsize if no schedule is known.
        """
        return len(self.broken[name].events) - 1 if name in self.broken else sys.maxsize


@functools.cache
def is_of_the_survey(property_: Property, settings: Configuration) -> bool:
    """Return whether the survey covers a property in a configuration.

    In a plain configuration, which has no clients and no disk faults, the survey covers every property. In a
    configuration of WITH_CLIENTS, the survey covers only properties that apply to no protocol in the plain
    configuration.
    """
    plain = Configuration(replicas=settings.replicas, records=settings.records, epochs=settings.epochs)
    if settings == plain:
        return True
    free = Configuration(records=Configuration.records, epochs=Configuration.epochs)
    of_clients = [replace(each, records=free.records, epochs=free.epochs) for each in WITH_CLIENTS]
    is_plain = any(property_.applies(initial(each, Configuration())) for each in NAMED.values())
    return not is_plain and replace(settings, replicas=2, records=free.records, epochs=free.epochs) in of_clients


def _at_most(length: int, searched: Mapping[int, int]) -> dict[int, int]:
    return {replicas: min(length, excluded) for replicas, excluded in searched.items()}


def stale() -> list[str]:
    """Return the protocols that have no survey, or whose rules have changed since their survey."""
    rows = surveyed()
    return [
        name
        for name, protocol in (GENERATIONS | RELEASES).items()
        if name not in rows or rows[name].digest != rules_digest(protocol, rows[name].judged)
    ]


def kept() -> list[Kept]:
    """Return all known schedules with their configurations: from the corpus, the glossary and the survey."""
    corpus = [(case.settings, tuple(schedule_texts(case.events))) for case in load_corpus([CORPUS])]
    examples = [entry.example for entry in glossary().values() if entry.example is not None]
    rows = surveyed().values() if FILE.exists() else ()
    found = [(each.settings, each.events) for row in rows for each in row.broken.values()]
    shown = [(each.settings, each.events) for each in examples]
    return list(dict.fromkeys([*corpus, *shown, *found]))


def beaten(rows: Mapping[str, ReleaseVerdicts], kept: Iterable[Kept]) -> Iterator[str]:
    """Yield a sentence for each schedule that contradicts the survey.

    Such a schedule breaks a property that holds according to the survey, or breaks a property in fewer events than the
    survey's schedule. `rows` has the survey's results by protocol.
    """
    schedules = [(settings, parse_schedule(events)) for settings, events in kept]
    for name, row in rows.items():
        for settings, schedule in schedules:
            for each in properties.PROPERTIES:
                if is_of_the_survey(each, settings) and each.name in row.judged:
                    yield from _beaten(name, row, settings, schedule, each)


def _beaten(
    name: str, row: ReleaseVerdicts, settings: Configuration, schedule: bytes, property_: Property
) -> Iterator[str]:
    said = row.broken.get(property_.name)
    prefix = shrink.breaking_prefix(schedule, NAMED[name], settings, property_.bit)
    if prefix is not None and (said is None or len(prefix) < len(said.events)):
        cell = "holds" if said is None else f"takes {len(said.events)} events"
        yield f"{name}: {property_.name} {cell}, but breaks after {', '.join(schedule_texts(prefix))}"


def _plain(verdicts: ReleaseVerdicts) -> dict[str, Any]:
    broken = {
        name: {
            "config": each.settings.changed(),
            "searched": each.searched,
            "within": each.within,
            "estimated": each.estimated,
            "events": list(each.events),
        }
        for name, each in verdicts.broken.items()
    }
    return {
        "digest": verdicts.digest,
        "judged": list(verdicts.judged),
        "complete": [each.changed() for each in verdicts.complete],
        "broken": broken,
    }


def _write(rows: Mapping[str, ReleaseVerdicts]) -> None:
    plain = {name: _plain(rows[name]) for name in NAMED if name in rows}
    FILE.write_text(yaml.safe_dump(plain, sort_keys=False, width=120), encoding="utf-8")
    surveyed.cache_clear()


def shortened(name: str, row: ReleaseVerdicts, kept: Sequence[Kept]) -> ReleaseVerdicts:
    """Return the survey's results for a protocol (`row`), with shorter schedules from `kept` in place of recorded ones.

    For a property whose schedule does not change, the recorded search results remain.
    """
    surveyor = Surveyor(NAMED[name], ())
    surveyor.broken = dict(row.broken)
    for settings, events in kept:
        surveyor.take(settings, events)
    return replace(row, broken=surveyor.found())


def deepened(name: str, row: ReleaseVerdicts, budget: Budget = TO_SHORTEN) -> ReleaseVerdicts:
    """Return the survey's results for a protocol (`row`) after the searches for shorter schedules that it lacks."""
    surveyor = Surveyor(NAMED[name], (), budget)
    surveyor.broken = dict(row.broken)
    return replace(row, broken=surveyor.deepen())


def survey(wanted: Sequence[str], budget: Budget) -> None:
    """Survey the protocols named in `wanted`, or else the protocols of `stale`, and write the results to survey.yaml.

    Then search for shorter schedules, in all rows that lack such a search. The file is written after every row, so a
    survey that was stopped continues with the next row. A schedule of one protocol may break a property of another
    protocol in fewer events than the recorded schedule. Then the shorter schedule replaces the recorded schedule.
    """
    rows = dict(surveyed()) if FILE.exists() else {}
    for name in wanted or stale():
        rows[name] = Surveyor(NAMED[name], kept(), budget).survey()
        _write(rows)
    while True:
        for name in list(rows):
            rows[name] = deepened(name, rows[name], budget)
            _write(rows)
            print(name, {each: len(how.events) for each, how in rows[name].broken.items()}, flush=True)
        if not any(beaten(rows, kept())):
            break
        rows = {name: shortened(name, row, kept()) for name, row in rows.items()}


def main(words: Sequence[str]) -> None:
    """Run a survey with the options of the command line. Ends the process with a message if an option is wrong."""
    parser = argparse.ArgumentParser(prog="python -m epochfuzz.harness.lab.survey", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("protocols", nargs="*", metavar="PROTOCOL", help="a protocol to survey again")
    parser.add_argument("--budget", metavar="TIME", help="the time for each search, such as 10m (default: no limit)")
    parser.add_argument(
        "--spark", type=Path, metavar="DIRECTORY", help="continue on Spark, with the states in DIRECTORY"
    )
    chosen = parser.parse_args(words)
    unknown = [name for name in chosen.protocols if name not in GENERATIONS | RELEASES]
    if unknown:
        parser.error(f"unknown protocol: {', '.join(unknown)}; choose from {', '.join(GENERATIONS | RELEASES)}")
    try:
        seconds = TO_SHORTEN.seconds if chosen.budget is None else parse_duration(chosen.budget, "--budget")
        survey(chosen.protocols, replace(TO_SHORTEN, seconds=seconds, spark=chosen.spark))
    except BadInput as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
