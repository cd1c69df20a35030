"""Measure the smallest bounds within which a lockstep comparison with the model detects a mutant.

The search runs the model and the mutant side by side through all schedules within bounds, until the two show different
states. If the states never differ, no schedule within these bounds can detect the mutant. `conform --exhaustive` should
detect the same mutants as the search, although `conform` reaches the start of each transition on one path only.

For each mutant, detection.yaml has the first entry of BOUNDS within which the search detects the mutant. `python -m
epochfuzz.harness.lab.mutants.detection NAME...` prints new entries for the named mutants, or for all mutants if you
name none.
"""

import marshal
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from epochfuzz.harness.conform.exhaustive.graph import Graph, graph
from epochfuzz.harness.conform.exhaustive.playing import within_bounds
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.oracle.lockstep import LockStep, beside
from epochfuzz.harness.conform.run.drive import Setting
from epochfuzz.harness.lab.mutants import DEFECTS
from epochfuzz.harness.lab.mutants.mutant import Mutant
from epochfuzz.harness.lab.mutants.proofs import proofs
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.fields import Grid
from epochfuzz.model.kafka.vocabulary.configuration import MAX_EPOCHS, MAX_RECORDS, Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, REFUSALS
from epochfuzz.model.kafka.vocabulary.state import VARIABLES

BOUNDS = ((2, 1, 2), (2, 2, 2), (2, 1, 3), (3, 1, 2))  # replicas, records, epoch changes
MOST_PAIRS = 20_000  # pairs of a state of the model and a state of the mutant that a search can store
_FILE = Path(__file__).with_name("detection.yaml")


@dataclass(frozen=True)
class MutantDetection:
    """The result of a search for a mutant within bounds. `schedule` is a shortest detecting schedule, or None.

    `complete` is True if no schedule within the bounds detects the mutant. `is_refused` is True if the last event is
    not enabled in the correct protocol, and the mutant applies it.
    """

    schedule: bytes | None
    complete: bool
    is_refused: bool = False


def settings_within(defect: Mutant, bounds: tuple[int, int, int]) -> Configuration:
    """Return the configuration for a search for the mutant within `bounds`: replicas, records and epoch changes.

    The other settings come from the mutant's proof. If the mutant has no proof, they come from `defect.settings`.
    """
    proof = proofs().get(defect.name)
    replicas, records, epochs = bounds
    return replace(
        proof.settings if proof else defect.settings, replicas=replicas, records=records, epochs=epochs
    )  # fmt: skip


def detect(defect: Mutant, settings: Configuration, most: int = MOST_PAIRS) -> MutantDetection:
    """Search for a shortest schedule that makes the model and the mutant differ.

    The search ends without a result if it needs to store more than `most` pairs of states.
    """
    level = [(Execution(defect.sound_protocol, settings), _wrong(defect, settings), b"")]
    seen: set[tuple[bytes, bytes]] = set()
    while level:
        following = []
        for model, wrong, schedule in level:
            for event in model.alphabet():
                ahead, astray = model.copy(), wrong.copy()
                refusal = REFUSALS[ahead.attempt(event)]
                if refusal.is_bound:
                    continue
                applied = astray.apply(event)
                if not applied and refusal is not APPLIED:
                    continue
                after, pair = schedule + bytes([event]), (_text(ahead), _text(astray))
                if pair in seen:
                    continue
                differs = applied != (refusal is APPLIED) or (pair[0] != pair[1] and _shown(ahead) != _shown(astray))
                if differs and _differs(defect, settings, after):
                    return MutantDetection(after, False, refusal is not APPLIED)
                if len(seen) == most:
                    return MutantDetection(None, False)
                seen.add(pair)
                following.append((ahead, astray, after))
        level = following
    return MutantDetection(None, True)


def found(defect: Mutant, settings: Configuration, refused: bool = False) -> bytes | None:
    """Play the test sequences of `conform --exhaustive` on the mutant until the mutant differs from the model.

    With `refused`, the sequences also contain events that are not enabled. Returns the test sequence up to the event
    that shows the difference, or None if the mutant never differs.
    """
    protocol = defect.sound_protocol
    of_all = _graph(protocol, settings, refused)
    nothing = np.zeros(of_all.size, bool)
    for tour in of_all.tours(~nothing, nothing):
        events = bytes(
            event
            for event, is_sent in zip(
                tour.events, within_bounds(tour.events, _setting(protocol, settings)), strict=True
            )
            if is_sent
        )
        if differs := _differs(defect, settings, events):
            return events[:differs]
    return None


@cache
def _graph(protocol: Protocol, settings: Configuration, refused: bool) -> Graph:
    return graph(protocol, settings, VERBS, refused)


def _differs(defect: Mutant, settings: Configuration, schedule: bytes) -> int:
    """Return the number, from 1, of the first event that shows a difference between mutant and model. 0: no event."""
    judge, wrong = LockStep(defect.sound_protocol, settings, every_refusal=True), _wrong(defect, settings)
    for number, event in enumerate(schedule, 1):
        judge.advance(event)
        applied = wrong.apply(event)
        if judge.judge(event, applied, _shown(wrong)):
            return number
    return 0


def _wrong(defect: Mutant, settings: Configuration) -> Execution:
    """Return an execution of the mutant with the largest bounds, because an adapter has no bounds."""
    return Execution(defect.broken_protocol, replace(settings, records=MAX_RECORDS, epochs=MAX_EPOCHS))


def _setting(protocol: Protocol, settings: Configuration) -> Setting:
    return Setting(protocol, settings, JudgedBy.LOCKSTEP)


def _shown(execution: Execution) -> Any:
    """Return everything that an adapter could show of a state."""
    return beside(execution.state, {"producers": {}})


def _text(execution: Execution) -> bytes:
    """Return the state of an execution as bytes, without values that can no longer influence an event."""
    p = execution.state.copy()
    execution.model.forget(p)
    values = (getattr(p, field.name) for field in VARIABLES if field.read(p))
    return marshal.dumps([list(value.values()) if isinstance(value, Grid) else value for value in values])


def entry(defect: Mutant) -> dict[str, Any]:
    """Return the entry of detection.yaml for a mutant: the first sufficient bounds, and the number of events.

    If BOUNDS[0] suffices, the entry has two more keys. `tour` is the number of events until a test sequence
    detects the mutant, and `refused` is True if the sequence needs --refused. `by: proof` means that no search detects
    the mutant, but the schedule of its proof does. If nothing detects the mutant, `nowhere within` lists the bounds
    that were searched completely.
    """
    searched = []
    for bounds in BOUNDS:
        settings = settings_within(defect, bounds)
        seen = detect(defect, settings)
        if seen.schedule is not None:
            at = {"within": list(bounds), "events": len(seen.schedule)}
            return at | (_tour(defect, settings) if bounds == BOUNDS[0] else {})
        if seen.complete:
            searched.append(list(bounds))
    return _by_its_proof(defect) or {"nowhere within": searched}


def _by_its_proof(defect: Mutant) -> dict[str, Any] | None:
    """Return an entry made from the schedule of a mutant's proof, or None if the schedule shows no difference.

    The schedule of a proof may be too long for an exhaustive search to find.
    """
    proof = proofs().get(defect.name)
    events = proof and _differs(defect, proof.settings, proof.shortest)
    if not proof or not events:
        return None
    settings = proof.settings
    return {"within": [settings.replicas, settings.records, settings.epochs], "events": events, "by": "proof"}


def _tour(defect: Mutant, settings: Configuration) -> dict[str, Any]:
    for refused in (False, True):
        tour = found(defect, settings, refused)
        if tour is not None:
            return {"tour": len(tour), "refused": refused}
    return {"tour": None}


@cache
def entries() -> dict[str, dict[str, Any]]:
    """Return the entries of detection.yaml, by the mutant's name."""
    document: dict[str, dict[str, Any]] = yaml.safe_load(_FILE.read_text())
    return document


def text(name: str, said: dict[str, Any]) -> str:
    """Return an entry as YAML text, in the format of detection.yaml."""
    written: str = yaml.safe_dump({name: said}, default_flow_style=None, sort_keys=False, width=120)
    return written


def main(names: list[str]) -> None:
    """Print new entries of detection.yaml for the named mutants, or for all mutants if `names` is empty."""
    for defect in DEFECTS:
        if not names or defect.name in names:
            print(text(defect.name, entry(defect)), end="", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
