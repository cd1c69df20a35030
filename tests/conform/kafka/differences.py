"""Where Kafka's own code and the model differ, known and left as they are, each with its least schedule and the reason."""

from dataclasses import dataclass

from tests.conform.kafka.rungs import Rung


@dataclass(frozen=True)
class Difference:
    """What is seen of a difference: in the cases named, on the releases named, their verdicts may not be the model's."""

    releases: tuple[str, ...]
    cases: tuple[str, ...]
    schedule: str
    reason: str

    def covers(self, rung: Rung, case: str) -> bool:
        """Whether this is why a release has another verdict on a case than the model."""
        return rung.name in self.releases and case in self.cases


DIFFERENCES: tuple[Difference, ...] = ()


def reason(rung: Rung, case: str) -> str | None:
    """Why a release may have another verdict on a case than the model; None if it may not."""
    return next((each.reason for each in DIFFERENCES if each.covers(rung, case)), None)
