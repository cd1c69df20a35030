"""Check that epochfuzz detects its mutants, which are protocols with one wrong rule.

The selftest runs random schedules on each mutant until one breaks a property that holds without the mistake. Some
mutants are not wrong rules of a protocol, but wrong checks of a property. The selftest detects such a mutant if the
correct checks report a violation that the wrong checks miss.
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
    """The result for one mutant: the property that detected the mutant (or None), and the number of schedules run."""

    defect: Mutant
    settings: Configuration
    property: str | None
    schedules: int


def detectable() -> list[Mutant]:
    """Return the mutants that proofs.yaml does not list as undetectable."""
    return [defect for defect in DEFECTS if defect.name not in undetectable()]


def catch(defect: Mutant, seed: int) -> Catch:
    """Run up to MOST_SCHEDULES random schedules of a seed until one detects the mutant. Returns the result."""
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
