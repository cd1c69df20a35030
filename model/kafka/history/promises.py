"""The guarantees to clients: the records that no failure may lose.

A record is *exposed* as soon as consumers can read the record on a replica, even on a stale leader. A record is *acked*
as soon as the producer has an acknowledgement. The model remembers these records through all failures, and the
properties check whether replicas still have them.
"""

from epochfuzz.model.kafka.history import ideal_log, produce_purgatory
from epochfuzz.model.kafka.storage import log, transactions
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import (
    has_retention,
    loses_disks,
    tracks_eligible_leaders,
    tracks_waiting,
)
from epochfuzz.model.kafka.vocabulary.state import State


def remember_produced(p: State, r: int) -> int:
    """Assign an id to a client's new record, and return the id. With acks=1, acknowledge the record at once."""
    record = p.produced
    p.produced = record + 1
    note_offset(p, record, p.leo[r])
    if p.acks == Acks.LEADER:
        p.acked |= 1 << record
    return record


def note_offset(p: State, record: int, offset: int) -> None:
    """Store the offset of a record in the log of the leader that received it. A retry replaces the offset."""
    # Four bits for each record: clear the old offset, then set the new one.
    p.record_offset = p.record_offset & ~(15 << (4 * record)) | offset << (4 * record)


def remember_readable(p: State, r: int, start: int) -> None:
    """Mark the records of leader r from offset `start` to r's high watermark as readable by consumers.

    With acks=all, r then responds to the producers of these records (produce_purgatory.answer_producer). A produce
    request waits for its response as long as the leader that received the request leads without a break, also in later
    epochs (Partition.checkEnoughReplicasReachOffset, Kafka 0.10.2 to 2.7).
    """
    if has_retention(p):
        start = max(start, p.log_start[r])
    expose(p, r, start)
    if p.acks == Acks.ALL:
        if tracks_waiting(p):
            produce_purgatory.answer(p, r)
        else:
            answer_producers(p, r, max(start, p.led_from[r]))


def expose(p: State, r: int, start: int) -> None:
    """Mark r's records from offset `start` to r's high watermark as readable by consumers.

    r is a leader, or a follower that consumers may read from (KIP-392).
    """
    if p.retries:
        ideal_log.expose(p, r, start)
    for offset in range(start, p.high_watermark[r]):
        record = log.at(p.log_record[r], offset)
        if not transactions.is_marker(p, record):
            p.exposed |= 1 << record


def answer_producers(p: State, r: int, start: int) -> None:
    """Respond to the producers of r's records from `start` to r's high watermark.

    r must have received these records from producers, not from another leader. A transaction's marker gets no response,
    because no producer has sent it.
    """
    if p.led_from[r] <= p.high_watermark[r]:
        p.led_from[r] = 0
    for offset in range(start, p.high_watermark[r]):
        record = log.at(p.log_record[r], offset)
        if not transactions.is_marker(p, record):
            produce_purgatory.answer_producer(p, r, record)


def exposed_are_lost(p: State, r: int) -> bool:
    """Return whether r lacks a record that consumers could read, or has another record in its place."""
    if p.retries:
        return ideal_log.is_contradicted(p, r)
    return lost_exposed(p, r) != 0


def lost_exposed(p: State, r: int) -> int:
    """Return the set of records that consumers could read, and that r does not have at their offsets.

    Call the function only in runs without retries, where each record has one offset.
    """
    return p.exposed & ~standing_or_deleted(p, r)


def standing_or_deleted(p: State, r: int) -> int:
    """Return the set of records that r's log has at their own offsets, or that the event `trim` has deleted.

    A record's own offset is the offset of its first append at a leader.
    """
    if has_retention(p):
        return p.standing[r] | p.deleted
    return p.standing[r]


def lost_acked(p: State, r: int) -> int:
    """Return the set of acknowledged records that r lacks.

    With retries, r may have a record at any offset. Without retries, r must have each record at the record's own
    offset.
    """
    return p.acked & ~(log.records_in(p, r) if p.retries else standing_or_deleted(p, r))


def note_lossy_failure(p: State) -> None:
    """Count a failure that lost records: a power loss or a lost log directory.

    KIP-966 tolerates min.insync.replicas - 1 failures with lost records.
    """
    if tracks_eligible_leaders(p):
        p.lossy_failures = min(p.lossy_failures + 1, p.min_insync_replicas)
        if are_void(p):
            p.goals |= Goal.LOSS_PERMITTED


def note_unclean_recovery(p: State) -> None:
    """End the guarantees if a failure has lost records. Call the function at the election of the last known leader.

    This election needs min.insync.replicas unclean shutdowns since the last commit. KIP-966 cannot tell which of these
    shutdowns lost records. So a single shutdown with lost records is enough to end the guarantees.
    """
    if p.lossy_failures > 0:
        p.lossy_failures = p.min_insync_replicas
        p.goals |= Goal.LOSS_PERMITTED


def are_void(p: State) -> bool:
    """Return whether more failures have lost records than KIP-966 tolerates, so that no guarantee holds any more."""
    return tracks_eligible_leaders(p) and loses_disks(p) and p.lossy_failures >= p.min_insync_replicas
