"""Shrinking runs parts of a schedule: its results, and its limits."""

from itertools import pairwise

import pytest

from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind
from epochfuzz.harness.conform.run import attempts
from epochfuzz.harness.conform.run.attempts import shrink
from epochfuzz.harness.conform.run.drive import ConformanceFailure
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts

ALPHABET = Configuration().alphabet()
FAULT = Discrepancy(DiscrepancyKind.DIFFERENCE, "applied", True, False)


def minimal(
    events: list[str],
    fails: object,
    enabled: object = lambda schedule: schedule,
    seconds: float = attempts.MOST_SECONDS,
) -> list[str]:
    """Shrink events that `fails`, a predicate on event texts, holds for. Returns the remaining events."""

    def attempt(schedule: bytes) -> ConformanceFailure | None:
        return ConformanceFailure(FAULT, schedule) if fails(schedule_texts(schedule)) else None  # type: ignore[operator]

    sighting = ConformanceFailure(FAULT, parse_schedule(events))
    return schedule_texts(shrink(sighting, attempt, ALPHABET, enabled, seconds).sent)  # type: ignore[arg-type]


def in_order(*wanted: str) -> object:
    def fails(events: list[str]) -> bool:
        rest = iter(events)
        return all(event in rest for event in wanted)

    return fails


LONG = ["fetch B", "produce A", "notify B", "crash B", "elect A", "restart B", "receive B", "drop A", "expire B"] * 4


def test_shrinking_deletes_events_that_do_not_matter() -> None:
    assert minimal(LONG, in_order("crash B", "receive B")) == ["crash B", "receive B"]


def test_shrinking_deletes_events_together_that_matter_only_together() -> None:
    def fails(events: list[str]) -> bool:
        return "expire B" in events and events.count("crash B") == events.count("restart B")

    assert minimal(LONG, fails) == ["expire B"]


def test_shrinking_reports_the_events_left_after_each_attempt() -> None:
    reports: list[str] = []
    sighting = ConformanceFailure(FAULT, parse_schedule(["crash B", "receive B"]))
    shrink(sighting, lambda _: None, ALPHABET, lambda schedule: schedule, report=reports.append)
    assert reports[0] == "shrinking a failure: 2 events left at attempt 1"
    assert len(reports) > 2


def test_shrinking_replaces_a_replica_that_had_to_be_elected() -> None:
    def fails(events: list[str]) -> bool:
        return "produce A" in events or {"elect B", "notify B", "produce B"} <= set(events)

    assert minimal(["elect B", "notify B", "produce B"], fails) == ["produce A"]


DETOUR = ["elect B", "notify A", "elect A", "notify A"]


def test_shrinking_replaces_a_detour_with_a_single_event() -> None:
    def fails(events: list[str]) -> bool:
        return events[-1:] == ["fetch B"] and (events[:3] == DETOUR[:3] or events[:1] == ["expire B"])

    assert minimal([*DETOUR[:3], "fetch B"], fails) == ["expire B", "fetch B"]


def test_shrinking_drops_events_that_a_replacement_disables() -> None:
    def enabled(schedule: bytes) -> bytes:
        """After `expire B`, A is the leader and has nothing to learn, so the events of the detour are not enabled."""
        events = schedule_texts(schedule)
        idle = set(DETOUR) if events[0] == "expire B" else set()
        return parse_schedule([event for event in events if event not in idle])

    def fails(events: list[str]) -> bool:
        return events in ([*DETOUR, "fetch B"], ["expire B", "fetch B"])

    assert minimal([*DETOUR, "fetch B"], fails, enabled) == ["expire B", "fetch B"]


def test_shrinking_returns_no_events_if_the_failure_needs_none() -> None:
    assert minimal(LONG, lambda events: True) == []


def test_shrinking_runs_no_schedule_twice() -> None:
    run: list[tuple[str, ...]] = []

    def fails(events: list[str]) -> bool:
        run.append(tuple(events))
        return "crash B" in events

    minimal(LONG, fails)
    assert len(run) == len(set(run))


def test_shrinking_stops_after_a_number_of_attempts_with_the_best_schedule_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attempts, "MOST_ATTEMPTS", 5)
    shrunk = minimal(LONG, in_order("crash B"))
    assert 1 < len(shrunk) < len(LONG)


def test_shrinking_stops_after_a_time_with_the_best_schedule_so_far() -> None:
    assert minimal(LONG, in_order("crash B"), seconds=0.0) == LONG


def test_shrinking_keeps_two_events_that_must_be_adjacent() -> None:
    def fails(events: list[str]) -> bool:
        return any(pair == ("crash B", "elect A") for pair in pairwise(events))

    assert minimal(LONG, fails) == ["crash B", "elect A"]
