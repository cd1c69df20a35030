"""Prove that a mutant can be detected: find a shortest schedule that breaks a property because of the mistake.

proofs.yaml keeps the proofs. `python -m epochfuzz.harness.lab.mutants.proofs NAME...` prints new proofs of the named
mutants, or of all mutants if you name none. A proof takes seconds or minutes.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from epochfuzz.harness.engine.explore.explore import Exploration, explore
from epochfuzz.harness.engine.shrink.shrink import shrink
from epochfuzz.harness.engine.walk.hunt import Hunter
from epochfuzz.harness.lab.mutants import PROTOCOL_DEFECTS
from epochfuzz.harness.lab.mutants.mutant import Mutant
from epochfuzz.harness.reference.releases import surveyed
from epochfuzz.harness.text.yaml_text import parsed
from epochfuzz.harness.trace.causes import gives_way_to
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import MAX_EPOCHS, Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, parse_schedule, schedule_texts, verb_of
from epochfuzz.model.kafka.vocabulary.in_force import requests_isr_changes

_FILE = Path(__file__).with_name("proofs.yaml")
_MEMORY = 3 << 30
_HUNTED = 200_000  # random schedules to run if exhaustive search finds nothing

# The exhaustive search for a mutant tries these configurations in this order.
SEARCHED: tuple[Configuration, ...] = (
    Configuration(records=2, epochs=2),
    Configuration(records=3, epochs=3),
    Configuration(records=2, epochs=2, records_per_fetch=2),
    Configuration(records=2, epochs=2, asynchronous_checkpoint=True),
    Configuration(records=2, epochs=2, unclean_leader_election=True),
    Configuration(records=1, epochs=1, power_loss=True),
    Configuration(records=2, epochs=1, unclean_leader_election=True, asynchronous_checkpoint=True),
    Configuration(records=2, epochs=2, controllers=2),
    Configuration(records=2, epochs=1, transactions=True),
    Configuration(replicas=3, records=1, epochs=2),
    Configuration(records=3, epochs=2, retries=True),
    Configuration(records=3, epochs=1, consumer=True, unclean_leader_election=True),
    Configuration(records=2, epochs=2, consumer=True, unclean_leader_election=True, follower_reads=True),
)
# The configurations for protocols whose leaders request changes of the ISR. These protocols have many more states.
SEARCHED_BY_REQUEST: tuple[Configuration, ...] = (
    Configuration(records=1, epochs=2),
    Configuration(records=1, epochs=2, min_insync_replicas=2),
    Configuration(records=2, epochs=2),
    Configuration(records=1, epochs=1, min_insync_replicas=2, power_loss=True),
    Configuration(records=2, epochs=3),
    Configuration(records=1, epochs=2, min_insync_replicas=2, power_loss=True),
)
# The bounds for a mutant of a rule that needs settings: replicas, records, epoch changes.
SEARCHED_WITH_SETTINGS = ((2, 1, 2), (2, 2, 2))


@dataclass(frozen=True)
class Proof:
    """A shortest schedule that detects a mutant: its last event breaks `property`.

    `settings` has the bounds that the schedule needs. If `unbounded` is True, no shorter schedule exists with any
    number of records and epochs. Otherwise no shorter schedule exists within the bounds of `settings`.
    """

    settings: Configuration
    property: str
    shortest: bytes
    unbounded: bool


@cache
def proofs() -> dict[str, Proof]:
    """Return the proofs of proofs.yaml, by the mutant's name."""
    return {name: _read(entry) for name, entry in _document()["detectable"].items()}


@cache
def undetectable() -> dict[str, str]:
    """Return the names of the mutants without a proof, each with the reason why the mutant breaks no property."""
    return dict(_document()["undetectable"])


@cache
def judged(defect: Mutant, settings: Configuration) -> int:
    """Return the set of properties that can detect a mutant, as bits.

    These are the properties that the mutant's protocol holds without the mistake.
    """
    protocol, permitted = defect.sound_protocol, properties.permitted(settings)
    flawed = surveyed()[protocol.name].broken if protocol.name in surveyed() else {}
    return properties.set_of(
        name
        for name in properties.NAMES
        if not (name in permitted or name in flawed or gives_way_to(name, protocol, settings))
    )


def prove(defect: Mutant) -> Proof | None:
    """Search for a shortest schedule that detects the mutant. Returns None if the search finds none.

    Exhaustive searches try the configurations of `_searched`, one after another. If they find no violation, random
    schedules with three replicas follow. The first failing schedule is shrunk, and an exhaustive search looks for
    shorter ones.
    """
    for settings in _searched(defect):
        exploration = _explore(defect, settings, None)
        if exploration.shortest is not None:
            return _proof(defect, settings, exploration.shortest)
        assert exploration.complete
    settings = replace(defect.settings, replicas=3)
    wanted = judged(defect, settings)
    found = Hunter(defect.broken_protocol, settings, wanted).first("swarm", 0, _HUNTED)
    if found is None:
        return None
    return _proof(defect, settings, shrink(found[1], defect.broken_protocol, settings, wanted))


def _searched(defect: Mutant) -> tuple[Configuration, ...]:
    """Return the configurations to search exhaustively for a mutant, in the order of the searches."""
    if defect.settings != Configuration():
        return tuple(
            replace(defect.settings, replicas=replicas, records=records, epochs=epochs)
            for replicas, records, epochs in SEARCHED_WITH_SETTINGS
        )
    return SEARCHED_BY_REQUEST if requests_isr_changes(defect.sound_protocol.constants) else SEARCHED


def _proof(defect: Mutant, settings: Configuration, schedule: bytes) -> Proof:
    """Return the proof for a schedule that detects the mutant.

    If proofs.yaml has a shorter schedule that still detects the mutant, that schedule is used instead. Searches then
    look for even shorter schedules.
    """
    written = proofs().get(defect.name)
    if written is not None and _unbounded(written.settings) == _unbounded(settings) and _still_holds(defect, written):
        schedule = min(schedule, written.shortest, key=len)
    exploration = _explore(defect, _needed(defect, settings, schedule), len(schedule) - 1)
    assert not exploration.memory_exhausted
    return _shortest(defect, settings, exploration.shortest or schedule)


def _shortest(defect: Mutant, settings: Configuration, schedule: bytes) -> Proof:
    """Return the proof for a schedule that is already known to be shortest within the bounds that it needs.

    If a search with larger bounds finds a shorter schedule, the proof has the shorter schedule instead.
    """
    depth = len(schedule) - 1
    free = _unbounded(settings)
    exploration = _explore(defect, free.bounded_by(depth), depth) if depth else None
    if exploration is not None and exploration.shortest is not None:
        schedule = exploration.shortest
    unbounded = exploration is None or not exploration.memory_exhausted
    return Proof(_needed(defect, settings, schedule), broken_by(defect, free, schedule)[0], schedule, unbounded)


def _unbounded(settings: Configuration) -> Configuration:
    """Return the configuration with the largest bounds on records and epochs."""
    return replace(settings, records=Configuration.records, epochs=Configuration.epochs)


def _still_holds(defect: Mutant, written: Proof) -> bool:
    """Return whether the schedule of a recorded proof still breaks its property under the current rules."""
    return _is_enabled(defect, written.settings, written.shortest) and written.property in broken_by(
        defect, written.settings, written.shortest
    )


def _needed(defect: Mutant, settings: Configuration, schedule: bytes) -> Configuration:
    """Return the configuration with the least bounds that enable every event of a schedule.

    A resent record may need room for one more record in the log.
    """
    verbs = [verb_of(event) for event in schedule]
    produced = max(1, verbs.count(Verb.PRODUCE))
    bounds = (
        replace(settings, records=records, epochs=epochs)
        for records in range(produced, produced + verbs.count(Verb.RETRY) + 1)
        for epochs in range(MAX_EPOCHS + 1)
    )
    return next(each for each in bounds if _is_enabled(defect, each, schedule))


def _is_enabled(defect: Mutant, settings: Configuration, schedule: bytes) -> bool:
    """Return whether every event of a schedule is enabled after the events before it."""
    execution = Execution(defect.broken_protocol, settings)
    return all(execution.apply(event) for event in schedule)


def _explore(defect: Mutant, settings: Configuration, depth: int | None) -> Exploration:
    return explore(defect.broken_protocol, settings, judged(defect, settings), depth=depth, memory=_MEMORY)


def broken_by(defect: Mutant, settings: Configuration, schedule: bytes) -> list[str]:
    """Run a schedule on a mutant with rules that Python interprets.

    Returns the names of the properties that are broken after the last event and that can detect the mutant.
    """
    execution = Execution(defect.broken_protocol, settings, schedule)
    broken = execution.broken() | execution.broken_at_end()
    return properties.names(broken & judged(defect, settings))


def _document() -> dict[str, Any]:
    document: dict[str, Any] = parsed(_FILE.read_text(encoding="utf-8"))
    return document


def _read(entry: dict[str, Any]) -> Proof:
    settings = Configuration(**entry["config"])
    return Proof(settings, entry["breaks"], parse_schedule(entry["shortest"]), entry["unbounded"])


def _written(proof: Proof) -> dict[str, Any]:
    config = proof.settings.changed() | {"records": proof.settings.records, "epochs": proof.settings.epochs}
    return {
        "config": config,
        "breaks": proof.property,
        "unbounded": proof.unbounded,
        "shortest": schedule_texts(proof.shortest),
    }


def main(names: Sequence[str]) -> None:
    """Print new entries of proofs.yaml for the named mutants, or for all mutants if `names` is empty.

    The reasons of undetectable mutants are copied from the current proofs.yaml.
    """
    document: dict[str, Any] = {"detectable": {}, "undetectable": {}}
    for defect in PROTOCOL_DEFECTS:
        if names and defect.name not in names:
            continue
        print(defect.name, file=sys.stderr, flush=True)
        proof = prove(defect)
        if proof is None:
            document["undetectable"][defect.name] = undetectable().get(defect.name, "")
        else:
            document["detectable"][defect.name] = _written(proof)
    for part, flow in (("detectable", None), ("undetectable", False)):
        yaml.safe_dump({part: document[part]}, sys.stdout, sort_keys=False, default_flow_style=flow, width=118)


if __name__ == "__main__":
    main(sys.argv[1:])
