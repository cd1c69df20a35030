"""Delayed fetches: a fetch without records to return waits at its leader, in the purgatory of Kafka's DelayedFetch.

The leader responds when it appends a record, or when the wait time is over (`replica.fetch.wait.max.ms`, 500 ms by
default). If the leader steps down or dies, the follower fetches again. A follower reads up to the log end offset, so a
rising high watermark does not complete its fetch (DelayedFetch.tryComplete). It does so only in Kafka 2.4 and 2.5
(KAFKA-9952). But in every release a rising high watermark ends a fetch of an earlier leader epoch with an error.

If the setting `delayed_fetch` is off, the leader responds at once, as if the wait time were over.
"""

from epochfuzz.model.kafka.partition import flight
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import answers_survive_decisions, has_delayed_fetch
from epochfuzz.model.kafka.vocabulary.mechanisms import Fencing
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, State


def expire_fetch(p: State, r: int) -> int:
    """End the wait of r's fetch: the leader responds with its current high watermark, without records."""
    if not p.delayed_fetch:
        return Refusal.DELAYED_FETCH_OFF
    if p.flight[r] != Flight.WAITING:
        return Refusal.NO_FETCH_WAITS
    answer(p, waits_at(p, r), r)
    p.goals |= Goal.DELAYED_FETCH_EXPIRED
    return APPLIED


def wait(p: State, follower: int) -> None:
    """Let the follower's fetch wait at its leader, and store the leader epoch that the fetch carries."""
    p.flight[follower] = Flight.WAITING
    p.flight_epoch[follower] = p.known_epoch[follower]
    p.flight_offset[follower] = 0


def waits(p: State, follower: int) -> bool:
    """Return whether the follower's fetch waits at its leader."""
    return has_delayed_fetch(p) and p.flight[follower] == Flight.WAITING


def waits_at(p: State, follower: int) -> int:
    """Return the leader at which the follower's fetch waits; NONE if no fetch waits."""
    if p.flight[follower] != Flight.WAITING:
        return NONE
    leader: int = p.flight_leader[follower] if answers_survive_decisions(p) else p.known_leader[follower]
    return leader


def complete(p: State, leader: int) -> None:
    """Respond to all fetches that wait at the leader, because it has appended a record."""
    for follower in range(p.replicas):
        if waits_at(p, follower) == leader:
            answer(p, leader, follower)
            p.goals |= Goal.DELAYED_FETCH_COMPLETED


def answer(p: State, leader: int, follower: int) -> None:
    """Respond to a waiting fetch, or reject it if its leader epoch is outdated (DelayedFetch.onComplete).

    The leader reads its log again from the fetch offset. It noted the follower's offset when the fetch arrived, and
    does not note it again (readFromPurgatory).
    """
    if is_fenced(p, leader, follower):
        flight.discard_answer(p, follower)
        return
    start = p.flight_from[follower] if answers_survive_decisions(p) else p.leo[follower]
    p.flight_epoch[follower] = 0
    flight.carry_records(p, leader, follower, min(start, p.leo[leader]))  # tests use states with a later offset
    p.flight_offset[follower] = p.high_watermark[leader]


def is_fenced(p: State, leader: int, follower: int) -> bool:
    """Return whether a waiting fetch carries another leader epoch than its leader has now (KIP-320)."""
    return p.fencing == Fencing.EPOCH and p.flight_epoch[follower] != p.known_epoch[leader]


def reject_fenced(p: State, leader: int) -> None:
    """End the waiting fetches of other leader epochs with an error, because the leader's high watermark has risen.

    When it rises, the leader looks at all waiting fetches (Partition.tryCompleteDelayedRequests,
    DelayedFetch.tryComplete).
    """
    for follower in range(p.replicas):
        if waits_at(p, follower) == leader and is_fenced(p, leader, follower):
            flight.discard_answer(p, follower)


def fail(p: State, r: int) -> None:
    """Reject all fetches that wait at r, because r no longer leads (completeDelayedFetchOrProduceRequests)."""
    for follower in range(p.replicas):
        if waits_at(p, follower) == r:
            flight.discard_answer(p, follower)


def anywhere(p: State) -> bool:
    """Return whether a fetch waits at any replica."""
    for r in range(p.replicas):
        if p.flight[r] == Flight.WAITING:
            return True
    return False
