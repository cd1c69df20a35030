"""Delayed fetches: a fetch waits at the leader if the leader has no records for it (Kafka's DelayedFetch purgatory).

The leader responds when it appends a record, or when the wait time is over (`replica.fetch.wait.max.ms`, 500 ms by
default). If the leader steps down or dies, the follower fetches again. A follower reads up to the log end offset, so a
rising high watermark does not complete its fetch (DelayedFetch.tryComplete), except in Kafka 2.4 and 2.5 (KAFKA-9952).
But since KIP-320 a waiting fetch of another leader epoch ends with an error when the high watermark rises.

If the setting `delayed_fetch` is off, the leader responds at once, as if the wait time were over.
"""

from epochfuzz.model.kafka.partition import flight
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import answers_survive_decisions, has_delayed_fetch
from epochfuzz.model.kafka.vocabulary.mechanisms import Fencing
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, State


def expire_fetch(p: State, r: int) -> int:
    """End the wait of r's fetch: the leader responds with its current high watermark, without records.

    Returns APPLIED, or a Refusal.
    """
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
    """Return the leader where the follower's fetch waits, or NONE if no fetch of the follower waits."""
    if p.flight[follower] != Flight.WAITING:
        return NONE
    leader: int = p.flight_leader[follower] if answers_survive_decisions(p) else p.known_leader[follower]
    return leader


def complete(p: State, leader: int) -> None:
    """Respond to all fetches that wait at the leader, because the leader has appended a record."""
    for follower in range(p.replicas):
        if waits_at(p, follower) == leader:
            answer(p, leader, follower)
            p.goals |= Goal.DELAYED_FETCH_COMPLETED


def answer(p: State, leader: int, follower: int) -> None:
    """Respond to the follower's waiting fetch, or reject a fetch with an outdated leader epoch.

    Kafka's code for this is DelayedFetch.onComplete. The leader reads its log again, from the fetch offset on. The
    leader stored the follower's LEO when the fetch arrived, and does not store it again (readFromPurgatory).
    """
    if is_fenced(p, leader, follower):
        flight.discard_answer(p, follower)
        return
    start = p.flight_from[follower] if answers_survive_decisions(p) else p.leo[follower]
    p.flight_epoch[follower] = 0
    flight.carry_records(p, leader, follower, min(start, p.leo[leader]))  # tests use states with a later offset
    p.flight_offset[follower] = p.high_watermark[leader]


def is_fenced(p: State, leader: int, follower: int) -> bool:
    """Return whether the leader rejects the follower's waiting fetch, which carries another leader epoch (KIP-320).

    The fetch carries the leader epoch that the follower knew when it sent the fetch. The leader may know another
    epoch now.
    """
    return p.fencing == Fencing.EPOCH and p.flight_epoch[follower] != p.known_epoch[leader]


def reject_fenced(p: State, leader: int) -> None:
    """Reject the waiting fetches that carry other leader epochs, because the leader's high watermark has risen.

    A leader checks all waiting fetches whenever its high watermark rises (Partition.tryCompleteDelayedRequests,
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
