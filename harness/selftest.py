"""Selftest: a fuzzer that finds nothing proves nothing until it has shown that it can find.

Each defect is run under its protocol with random schedules, interpreted. A defect of the protocol is caught by the
first schedule that breaks a property the protocol holds; a defect of the judging by the first schedule on which the
sound model reports what the defective one does not see.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.defects import SOUND, Defect, Rules, load
from harness.engine import generate
from model import properties
from model.configuration import Configuration
from model.protocols import Protocol, parse_protocol

SETTINGS = Configuration(replicas=3)
MOST_SCHEDULES = 100_000


@dataclass(frozen=True)
class Catch:
    """By which property a defect was caught, and by how many schedules; None where it was not caught by that many."""

    defect: Defect
    property: str | None
    schedules: int


def catch(defect: Defect, seed: int, most: int = MOST_SCHEDULES) -> Catch:
    """Run schedules of a seed until the defect is caught, `most` of them at the most."""
    rules = load(defect)
    protocol = parse_protocol(defect.protocol)
    deck = generate.deck_for(SETTINGS)
    for number in range(most):
        schedule = generate.schedule(seed, number, deck)
        broken = _broken(rules, protocol, schedule)
        if defect.in_judging:
            broken = _broken(SOUND, protocol, schedule) & ~broken
        if broken:
            return Catch(defect, properties.names(broken)[0], number + 1)
    return Catch(defect, None, most)


def _broken(rules: Rules, protocol: Protocol, schedule: Iterable[int]) -> int:
    p = rules.initial(protocol, SETTINGS)
    broken = 0
    for event in schedule:
        if rules.step(p, event):
            broken |= rules.broken_now(p)
    return broken | properties.CONVERGENCE if rules.non_convergence(p) else broken
