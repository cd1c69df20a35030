"""Where Kafka's own code and the model differ, known and left as they are, each with its least schedule and why."""

from dataclasses import dataclass

from tests.conform.kafka.rungs import Rung


@dataclass(frozen=True)
class Difference:
    """A difference: on the releases named, what breaks in the cases named need not be what breaks in the model."""

    releases: tuple[str, ...]
    cases: tuple[str, ...]
    schedule: str
    reason: str

    def covers(self, rung: Rung, case: str) -> bool:
        """Whether this is why a release has another verdict on a case than the model."""
        return rung.name in self.releases and case in self.cases


DIFFERENCES = (
    Difference(
        releases=("1.1.0",),
        cases=("kafka-6361-fast-leader-fail-over", "kafka-7415-epoch-below-the-first"),
        schedule="produce A, elect B, notify B, produce B, elect A, notify B, catch_up A, produce A, fetch B,"
        " receive B, fetch B, receive B",
        reason="Until KAFKA-7104 (1.1.1, 2.0.0) an answer with records carried the high watermark as it was after the"
        " fetch, so B's is 1 where the model's is 0, and covers the record that A has not: kafka-1.1 is 1.1.1.",
    ),
)


def reason(rung: Rung, case: str) -> str | None:
    """Why a release may have another verdict on a case than the model; None if it may not."""
    return next((each.reason for each in DIFFERENCES if each.covers(rung, case)), None)
