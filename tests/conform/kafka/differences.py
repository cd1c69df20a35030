"""Where Kafka's own code and the model differ, known and left as they are: differences.yaml, and verdicts on cases."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from epochfuzz.harness.conform.oracle.known import Known, of_document
from tests.conform.kafka.rungs import Rung

FILE = Path(__file__).parent / "differences.yaml"


@dataclass(frozen=True)
class Difference:
    """A difference in lock step: on the releases named, a field is not the model's after the last event."""

    releases: tuple[str, ...]
    schedule: tuple[str, ...]
    known: Known


@dataclass(frozen=True)
class OtherVerdict:
    """What breaks on Kafka's own code in a case, where the model says something else."""

    releases: tuple[str, ...]
    case: str
    verdict: str
    reason: str


DIFFERENCES = tuple(
    Difference(tuple(each["releases"]), tuple(each["schedule"]), of_document(each))
    for each in yaml.safe_load(FILE.read_text())
)

OTHER_VERDICTS = (
    OtherVerdict(
        releases=("2.8.0", "2.8.1", "3.0.2", "3.1.2", "3.4.0"),
        case="kafka-14704-high-watermark-before-the-cut",
        verdict="nothing",
        reason="What a consumer may read of a follower in the middle of a `receive`, before the log is truncated,"
        " cannot be seen after it (KAFKA-14704); what is shown then is the same.",
    ),
)


def reason(rung: Rung, case: str, verdict: str) -> str | None:
    """Why a release has this verdict on a case, which is not the model's; None if it may not."""
    return next(
        (
            each.reason
            for each in OTHER_VERDICTS
            if rung.name in each.releases and (case, verdict) == (each.case, each.verdict)
        ),
        None,
    )
