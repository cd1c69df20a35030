"""The reference model: an ideal log that never crashes and remembers what clients saw and were told.

A record is *exposed* once it was readable on a replica that presumed leadership, and *acked* once its producer got
its answer. Neither is ever forgotten, whatever happens to the replicas; the properties hold the replicas against it.
"""

from epochfuzz.model.kafka.history import ideal_log, waiting
from epochfuzz.model.kafka.storage import log, transactions
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import tracks_eligible_leaders, tracks_waiting
from epochfuzz.model.kafka.vocabulary.state import State


def remember_produced(p: State, r: int) -> int:
    """Take a client's record at leader r: give it the next id, and with acks=1 the answer at once."""
    record = p.produced
    p.produced = record + 1
    note_offset(p, record, p.leo[r])
    if p.acks == Acks.LEADER:
        p.acked |= 1 << record
    return record


def note_offset(p: State, record: int, offset: int) -> None:
    """Where a record is in the log of the leader that it was sent to last, or first where there are no retries."""
    p.record_offset = p.record_offset & ~(15 << (4 * record)) | offset << (4 * record)


def remember_readable(p: State, r: int, start: int) -> None:
    """Consumers may read from `start` to the high watermark of r, which presumes leadership.

    With acks=all the producers that wait at r get their answer: that the record is stored, if the ISR has
    min.insync.replicas now, or else NOT_ENOUGH_REPLICAS_AFTER_APPEND, for good. They wait at the leader that took the
    request as long as it leads, in later epochs too (Partition.checkEnoughReplicasReachOffset, Kafka 0.10.2 to 2.7).
    """
    expose(p, r, start)
    if p.acks == Acks.ALL:
        if tracks_waiting(p):
            waiting.answer(p, r)
        else:
            answer_producers(p, r, max(start, p.led_from[r]))


def expose(p: State, r: int, start: int) -> None:
    """Consumers may read from `start` to the high watermark of r: a leader, or with KIP-392 a follower too."""
    if p.retries:
        ideal_log.expose(p, r, start)
    for offset in range(start, p.high_watermark[r]):
        record = log.at(p.log_record[r], offset)
        if not transactions.is_marker(p, record):
            p.exposed |= 1 << record


def answer_producers(p: State, r: int, start: int) -> None:
    """Answer producers of the records from `start` to the high watermark of r, which it has appended itself.

    A marker is written with acks=all too, but the coordinator asks for an answer of its own.
    """
    if p.led_from[r] <= p.high_watermark[r]:
        p.led_from[r] = 0
    for offset in range(start, p.high_watermark[r]):
        record = log.at(p.log_record[r], offset)
        if not transactions.is_marker(p, record):
            waiting.answer_producer(p, r, record)


def exposed_are_lost(p: State, r: int) -> bool:
    """Whether r lacks a record that consumers could read, or has another one in its place."""
    if p.retries:
        return ideal_log.is_contradicted(p, r)
    return p.exposed & ~p.standing[r] != 0


def lost_acked(p: State, r: int) -> int:
    """Return the records that r lacks though their producer was answered; with retries it need not
    have them in one place.
    """
    return p.acked & ~(log.records_in(p, r) if p.retries else p.standing[r])


def note_lossy_failure(p: State) -> None:
    """Power loss has taken records with it. KIP-966 promises to bear min.insync.replicas - 1 of such failures."""
    if tracks_eligible_leaders(p):
        p.lossy_failures = min(p.lossy_failures + 1, p.min_insync_replicas)
        if are_void(p):
            p.goals |= Goal.LOSS_PERMITTED


def note_unclean_recovery(p: State) -> None:
    """Elect the last known leader: everybody who had all that was committed has shut down uncleanly since.

    That takes min.insync.replicas of unclean shutdowns. KIP-966 cannot tell which of them lost records, so that one
    that did is too much: the election is an unclean one.
    """
    if p.lossy_failures > 0:
        p.lossy_failures = p.min_insync_replicas
        p.goals |= Goal.LOSS_PERMITTED


def are_void(p: State) -> bool:
    """Whether so many failures have lost records that the contract permits to lose what was promised."""
    return tracks_eligible_leaders(p) and p.power_loss and p.lossy_failures >= p.min_insync_replicas
