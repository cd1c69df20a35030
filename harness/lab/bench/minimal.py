"""Measure how long shrinking takes, and how close its results are to the proven shortest schedules."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from epochfuzz.harness.engine.explore import certificates
from epochfuzz.harness.findings.findings import CERTIFICATE_MEMORY
from epochfuzz.harness.lab.mutants import hunting
from epochfuzz.harness.lab.mutants.mutant import Mutant
from epochfuzz.harness.lab.mutants.proofs import judged, proofs

_MOST_SCHEDULES = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Reproduced:
    """The shrunk failure of a mutant. `seconds` is the processor time for shrinking and certifying the failure.

    `found`, `length` and `proven` are the numbers of events of the original failure, of the shrunk failure, and of the
    shortest schedule in the mutant's proof. `certified` is True if a complete search found no shorter schedule.
    `bounded` is True if that search was limited to the bounds of the proof, because a search without these bounds did
    not certify the schedule.
    """

    defect: Mutant
    found: int
    length: int
    proven: int
    certified: bool
    bounded: bool
    seconds: float

    @property
    def minimal(self) -> bool:
        """Return whether the shrunk failure is certified, and as short as the schedule in the mutant's proof."""
        return self.certified and self.length == self.proven


def reproduce(defects: Sequence[Mutant], number: int = 0) -> Iterator[Reproduced]:
    """Detect each mutant with the default strategy and seed `number`, and shrink the failure as `fuzz` does.

    Yields a result for each detected mutant.
    """
    for defect in defects:
        settings = hunting.settings_for(defect)
        protocol = defect.broken_protocol
        wanted = judged(defect, settings)
        found = hunting.hunter(defect).first(hunting.DEFAULT_STRATEGY, number, _MOST_SCHEDULES)
        if found is None:
            continue
        started = time.process_time()
        result = certificates.reproduce(found[1], protocol, settings, wanted, CERTIFICATE_MEMORY)
        bounded = not result.certified_minimal
        if bounded:
            bounds = proofs()[defect.name].settings
            result = certificates.certify(result.schedule, protocol, bounds, wanted, CERTIFICATE_MEMORY)
        yield Reproduced(
            defect=defect, found=len(found[1]), length=len(result.schedule), proven=len(proofs()[defect.name].shortest),
            certified=result.certified_minimal, bounded=bounded, seconds=time.process_time() - started,
        )  # fmt: skip
