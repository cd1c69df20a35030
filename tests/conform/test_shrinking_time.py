"""The most severe failure is shrunk first, and a slow adapter gets more time."""

from typing import Any

import pytest

from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind
from epochfuzz.harness.conform.run import workers
from epochfuzz.harness.conform.run.attempts import MOST_SECONDS, limit_for
from epochfuzz.harness.conform.run.block import BlockResult, FailedTrial, Trial
from epochfuzz.harness.conform.run.drive import ConformanceFailure
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import run
from epochfuzz.harness.conform.run.workers import Processes
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

KIP_320 = parse_protocol("kip-320")
SETTINGS = Configuration(replicas=3)


def failed(property_: str, length: int) -> FailedTrial:
    """Return a trial that broke a guarantee after this number of events, all of them `produce A`."""
    events = bytes(length)
    fault = Discrepancy(DiscrepancyKind.PROMISE, property_, None, None)
    return FailedTrial(Trial(events, SETTINGS, number=1), ConformanceFailure(fault, events))


class Recorded(Processes):
    """Processes that have run 100 schedules in `seconds` and return the failures `found`."""

    def __init__(self, found: list[FailedTrial], seconds: float, shrinking: float | None, for_slow: int) -> None:
        super().__init__(shrinking=shrinking, for_slow=for_slow)
        self._found, self._took = found, seconds

    def run(self, blocks: Any) -> Any:
        self.seconds, self.schedules = self._took, 100
        yield BlockResult(schedules=100, failed=self._found)


@pytest.fixture
def shrunk(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str | None, float]]:
    """The properties of the failures that were shrunk, with their seconds."""
    calls: list[tuple[str | None, float]] = []

    def each(plan: Plan, protocol: Any, one: FailedTrial, seconds: float, report: Any) -> Any:
        calls.append((one.fault.field, round(seconds, 1)))
        return Finding()

    class Finding:
        known_flaw = None
        sighting = ConformanceFailure(Discrepancy(DiscrepancyKind.PROMISE, "x", None, None), b"")

        def is_same_as(self, other: Any) -> bool:
            return False

    monkeypatch.setattr(workers, "conformance_finding", each)
    return calls


FOUND = [failed("convergence", 4), failed("no-divergence", 90), failed("no-committed-loss", 54)]


def test_the_most_severe_failure_is_shrunk_first_with_half_of_the_time(shrunk: list[Any]) -> None:
    run(
        Plan(command=("x",), protocols=[KIP_320], settings=SETTINGS, schedules=100, seed=1),
        Recorded(FOUND, 1.0, 12.0, 0),
    )
    assert shrunk == [("no-committed-loss", 6.0), ("no-divergence", 6.0), ("convergence", 12.0)]


def test_a_slow_adapter_gets_the_shrinking_time_of_300_schedules(shrunk: list[Any]) -> None:
    run(
        Plan(command=("x",), protocols=[KIP_320], settings=SETTINGS, schedules=100, seed=1),
        Recorded(FOUND, 60.0, 12.0, 300),
    )
    assert shrunk[0] == ("no-committed-loss", 90.0)  # half of 300 schedules of 0.6 s


def test_the_shrinking_time_that_the_user_gives_also_bounds_a_slow_adapter(shrunk: list[Any]) -> None:
    run(
        Plan(command=("x",), protocols=[KIP_320], settings=SETTINGS, schedules=100, seed=1),
        Recorded(FOUND, 60.0, 12.0, 0),
    )
    assert shrunk[0] == ("no-committed-loss", 6.0)


def test_a_slow_adapter_has_the_time_of_300_schedules_to_shrink() -> None:
    assert limit_for(MOST_SECONDS, seconds=10.0, schedules=1_000) == MOST_SECONDS
    assert limit_for(MOST_SECONDS, seconds=100.0, schedules=100) == 300.0
    assert limit_for(MOST_SECONDS, seconds=100.0, schedules=0) == 30_000.0
