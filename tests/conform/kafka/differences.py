"""The known, accepted differences between Kafka's code and the model: differences.yaml, and verdicts on cases."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from epochfuzz.harness.conform.oracle.known import Known, of_document
from tests.conform.kafka.rungs import Rung

FILE = Path(__file__).parent / "differences.yaml"


@dataclass(frozen=True)
class Difference:
    """A difference in lockstep: on these releases, a field differs from the model after the last event.

    `config` has the settings that the schedule needs.
    """

    releases: tuple[str, ...]
    schedule: tuple[str, ...]
    known: Known
    config: Mapping[str, Any]


@dataclass(frozen=True)
class OtherVerdict:
    """A case in which Kafka's code breaks other properties than the model. `verdict` lists them in words."""

    releases: tuple[str, ...]
    case: str
    verdict: str
    reason: str


DIFFERENCES = tuple(
    Difference(tuple(each["releases"]), tuple(each["schedule"]), of_document(each), each.get("config", {}))
    for each in yaml.safe_load(FILE.read_text())
)

OTHER_VERDICTS = (
    OtherVerdict(
        releases=("2.8.0", "2.8.1", "3.0.2", "3.1.2", "3.4.0"),
        case="kafka-14704-high-watermark-before-the-cut",
        verdict="nothing",
        reason="A consumer may read from a follower in the middle of a `receive`, before the log is truncated"
        " (KAFKA-14704). An observation after the event cannot show this; it is the same in the model.",
    ),
)


def reason(rung: Rung, case: str, verdict: str) -> str | None:
    """Return the reason why this verdict of a release differs from the model, or None if no reason is known."""
    return next(
        (
            each.reason
            for each in OTHER_VERDICTS
            if rung.name in each.releases and (case, verdict) == (each.case, each.verdict)
        ),
        None,
    )
