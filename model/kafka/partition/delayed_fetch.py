"""Delayed fetches: a fetch that has no records to return waits at its leader, in the purgatory of Kafka's DelayedFetch.

The leader completes the fetch when it appends a record, or when the wait time is over (`replica.fetch.wait.max.ms`,
500 ms by default). If the leader steps down or dies, the fetch gets an error, which changes nothing, and the follower
fetches again. A higher high watermark alone completes no fetch of a follower, because a follower reads up to the log
end offset (DelayedFetch.tryComplete). In Kafka 2.4 and 2.5 a higher high watermark did complete it (until KAFKA-9952,
2.6.0). In every release a fetch of an earlier leader epoch gets an error as soon as the high watermark rises.

With the setting `delayed_fetch` off, the leader responds to a fetch at once, as if its wait had ended.
"""

from epochfuzz.model.kafka.partition import flight
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import answers_survive_decisions, has_delayed_fetch
from epochfuzz.model.kafka.vocabulary.mechanisms import Fencing
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, State


def expire_fetch(p: State, r: int) -> int:
    """End the wait of r's fetch: the leader responds without records, with its current high watermark."""
    if not p.delayed_fetch:
        return Refusal.DELAYED_FETCH_OFF
    if p.flight[r] != Flight.WAITING:
        return Refusal.NO_FETCH_WAITS
    answer(p, waits_at(p, r), r)
    p.goals |= Goal.DELAYED_FETCH_EXPIRED
    return APPLIED


def wait(p: State, follower: int) -> None:
    """Let the follower's fetch wait. The leader compares the fetch's leader epoch when the wait ends."""
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
    """Respond to a waiting fetch with records, or reject it because of its leader epoch (DelayedFetch.onComplete).

    The leader reads again from the fetch offset. It noted the follower's offset when the fetch arrived, and does not
    note it again (readFromPurgatory).
    """
    if is_fenced(p, leader, follower):
        flight.discard_answer(p, follower)
        return
    start = p.flight_from[follower] if answers_survive_decisions(p) else p.leo[follower]
    p.flight_epoch[follower] = 0
    flight.carry_records(p, leader, follower, min(start, p.leo[leader]))  # tests use states with a later offset
    p.flight_offset[follower] = p.high_watermark[leader]


def is_fenced(p: State, leader: int, follower: int) -> bool:
    """Return whether the waiting fetch carries an earlier leader epoch than its leader knows by now (KIP-320)."""
    return p.fencing == Fencing.EPOCH and p.flight_epoch[follower] != p.known_epoch[leader]


def reject_fenced(p: State, leader: int) -> None:
    """Reject the waiting fetches that carry an earlier leader epoch, because the leader's high watermark has risen.

    The leader looks at all waiting fetches then (Partition.tryCompleteDelayedRequests, DelayedFetch.tryComplete).
    """
    for follower in range(p.replicas):
        if waits_at(p, follower) == leader and is_fenced(p, leader, follower):
            flight.discard_answer(p, follower)


def fail(p: State, r: int) -> None:
    """Reject all fetches that wait at r, which no longer leads (completeDelayedFetchOrProduceRequests)."""
    for follower in range(p.replicas):
        if waits_at(p, follower) == r:
            flight.discard_answer(p, follower)


def anywhere(p: State) -> bool:
    """Return whether a fetch waits at any replica."""
    for r in range(p.replicas):
        if p.flight[r] == Flight.WAITING:
            return True
    return False
