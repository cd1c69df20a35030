"""Hunting for a defect: random schedules under the protocol that has it, compiled, until one shows it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from epochfuzz.harness.defects import planted
from epochfuzz.harness.defects.defect import Defect
from epochfuzz.harness.defects.proofs import judged, proofs
from epochfuzz.harness.search import generate
from epochfuzz.model import properties
from epochfuzz.model.configuration import Configuration

DEFAULT_STRATEGY = "swarm"


def settings_for(defect: Defect) -> Configuration:
    """The configuration to hunt a detectable defect in: that of its proof, without bounds on records and epochs."""
    proven = proofs()[defect.name].settings
    return replace(proven, records=Configuration.records, epochs=Configuration.epochs)


def hunter(defect: Defect) -> Any:
    """A Hunter (harness/engine/hunt.py) of the planted copy, for a detectable defect of the protocol."""
    settings = settings_for(defect)
    return planted.module("harness.search.hunt").Hunter(planted.protocol(defect), settings, judged(defect, settings))


def first_not_seen(defect: Defect, settings: Configuration, seed: int, most: int) -> tuple[int, int] | None:
    """(number, properties) of the first schedule that breaks what the judging with the defect does not see."""
    deck = generate.deck_for(settings)
    for number in range(most):
        schedule = generate.schedule(seed, number, deck)
        unseen = broken(defect.protocol, settings, schedule)
        unseen &= ~broken(planted.protocol_text(defect), settings, schedule)
        if unseen:
            return number, unseen
    return None


def broken(protocol: str, settings: Configuration, schedule: Iterable[int]) -> int:
    """The set of properties that a protocol of the planted copy breaks at any event of a schedule, interpreted."""
    protocols, state, step, rules = (
        planted.module(f"model.{name}") for name in ("protocols", "state", "step", "properties")
    )
    p = state.initial(protocols.parse_protocol(protocol), settings)
    found = 0
    for event in schedule:
        if step.step(p, event):
            found |= rules.broken_now(p)
    return found | properties.CONVERGENCE if rules.non_convergence(p) else found
