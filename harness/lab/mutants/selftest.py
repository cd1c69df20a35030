"""Selftest: a fuzzer that finds nothing proves nothing until it has shown that it can find.

Each defect that can be detected is hunted with random schedules. A defect of the protocol is caught by the first
schedule that breaks a property which the protocol holds without it; a defect of the judging by the first schedule on
which the sound judging reports what the defective one does not see.
"""

from dataclasses import dataclass

from epochfuzz.harness.lab.mutants import DEFECTS, hunting
from epochfuzz.harness.lab.mutants.mutant import Mutant
from epochfuzz.harness.lab.mutants.proofs import broken_by, undetectable
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

MOST_SCHEDULES = 1_000_000
_JUDGED = Configuration(replicas=3)


@dataclass(frozen=True)
class Catch:
    """By which property a defect was caught, and by how many schedules; None where it was not caught by that many."""

    defect: Mutant
    settings: Configuration
    property: str | None
    schedules: int


def detectable() -> list[Mutant]:
    """Return the defects that random schedules can catch: all but those for which exhaustive search
    shows that none can.
    """
    return [defect for defect in DEFECTS if defect.name not in undetectable()]


def catch(defect: Mutant, seed: int) -> Catch:
    """Run schedules of a seed until the defect is caught, MOST_SCHEDULES of them at the most."""
    if defect.in_judging:
        not_seen = hunting.first_not_seen(defect, _JUDGED, seed, MOST_SCHEDULES)
        if not_seen is None:
            return Catch(defect, _JUDGED, None, MOST_SCHEDULES)
        number, unseen = not_seen
        return Catch(defect, _JUDGED, properties.names(unseen)[0], number + 1)
    settings = hunting.settings_for(defect)
    found = hunting.hunter(defect).first(hunting.DEFAULT_STRATEGY, seed, MOST_SCHEDULES)
    if found is None:
        return Catch(defect, settings, None, MOST_SCHEDULES)
    number, schedule = found
    return Catch(defect, settings, broken_by(defect, settings, schedule)[0], number + 1)
