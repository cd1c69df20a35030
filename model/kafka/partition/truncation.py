"""Truncation: a follower makes its log a prefix of its leader's before it fetches.

There are three rules, and each fixes a flaw of its predecessor. Up to 0.10.2 the follower truncates to its high
watermark. With KIP-101 it truncates to the end offset that its last epoch has on the leader. With KIP-279 it truncates
step by step, until both logs have the epoch. Since KIP-595 the follower fetches first, see truncation_on_fetch.py.
"""

from epochfuzz.model.kafka.storage import epoch_cache, idempotence, log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import answers_survive_decisions, remembers_cut_records, skips_question
from epochfuzz.model.kafka.vocabulary.mechanisms import (
    CacheTruncation,
    HighWatermarkTruncation,
    TruncateWhen,
    Truncation,
)
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, Phase, State


def is_due(p: State, leader_changed: bool, epoch_missed: bool) -> bool:
    """Return whether an update makes a follower truncate. The partition's `truncate_when` is the rule."""
    if p.truncation == Truncation.ON_FETCH:
        return False
    if p.truncate_when == TruncateWhen.EACH_EPOCH or leader_changed:
        return True
    return p.truncate_when == TruncateWhen.LEADER_CHANGED_OR_EPOCH_MISSED and epoch_missed


def begin(p: State, r: int) -> None:
    """Start to follow: r truncates to its high watermark at once, or asks the leader first."""
    p.phase[r] = Phase.FETCHING
    if p.truncation == Truncation.HIGH_WATERMARK:
        cut(p, r, p.high_watermark[r])
    elif has_epoch_to_ask_for(p, r):
        p.phase[r] = Phase.TRUNCATING
    elif answers_survive_decisions(p) and p.flight[r] != Flight.NOTHING:
        p.flight_old[r] = 1


def has_epoch_to_ask_for(p: State, r: int) -> bool:
    """Return whether r asks its leader for the end of an epoch before it fetches.

    Until KIP-320 r asks even with an empty cache. ReplicaFetcherThread.buildLeaderEpochRequest asks for UNDEFINED_EPOCH
    then (Kafka 0.11 to 2.0); AbstractFetcherThread fetches at once (2.1).
    """
    return not skips_question(p) or p.cache_size[r] > 0


def requested_epoch(p: State, r: int) -> int:
    """Return the epoch that r asks for: the epoch of its last cache entry."""
    return epoch_cache.latest_epoch(p, r)


def answer_epoch_request(p: State, leader: int, epoch: int) -> tuple[int, int]:
    """Return (epoch, end offset) in the leader's response to OffsetsForLeaderEpoch; (NONE, NONE) if undefined."""
    if p.truncation == Truncation.LEADER_EPOCH:
        return epoch_cache.end_offset_kip_101(p, leader, epoch, p.leo[leader])
    return epoch_cache.end_offset_kip_279(p, leader, epoch, p.leo[leader])


def apply_epoch_answer(p: State, r: int, epoch: int, end: int) -> None:
    """Truncate r's log by the partition's rule, after the response to OffsetsForLeaderEpoch."""
    was_cut_before = p.phase[r] == Phase.TRUNCATING_FURTHER
    p.phase[r] = Phase.FETCHING
    if end == NONE:
        p.goals |= Goal.EPOCH_ANSWER_UNDEFINED
        cut(p, r, p.leo[r] if was_cut_before else p.high_watermark[r])
    elif p.truncation == Truncation.LEADER_EPOCH:
        cut(p, r, end)
    else:
        cut_stepwise(p, r, epoch, end)


def cut_stepwise(p: State, r: int, epoch: int, end: int) -> None:
    """Truncate to the end of the last common epoch, or ask again for an older epoch (KIP-279)."""
    own_epoch, own_end = epoch_cache.end_offset_kip_279(p, r, epoch, p.leo[r])
    if own_epoch == epoch:
        cut_to_lower_end(p, r, end, own_end)
    elif own_epoch == NONE:
        cut(p, r, end)
    else:
        cut(p, r, own_end)
        p.goals |= Goal.EPOCH_ASKED_AGAIN
        p.phase[r] = Phase.TRUNCATING_FURTHER


def cut_to_lower_end(p: State, r: int, end: int, own_end: int) -> None:
    """Truncate to the lower of two end offsets of one epoch, the leader's and r's. The logs are equal up to there."""
    cut(p, r, min(end, own_end))


def cut(p: State, r: int, end: int) -> None:
    """Truncate r's log to `end` if it is longer, with its epoch cache, high watermark and flushed part.

    The cache is truncated even if the log is not. An entry that starts at the LEO has no record. If it stays, the
    follower asks for its epoch forever (KAFKA-10706). Older choices keep such entries, or a high watermark beyond the
    log.
    """
    is_cut = end < p.leo[r]
    if is_cut:
        p.goals |= Goal.LOG_TRUNCATED
        if remembers_cut_records(p):
            idempotence.remember_cut(p, r, end)
        log.truncate(p, r, end)
        p.flushed[r] = min(p.flushed[r], p.leo[r])
    if is_cut or p.cache_truncation == CacheTruncation.ALWAYS:
        epoch_cache.truncate_from_end(p, r, p.leo[r])
    if p.high_watermark_truncation == HighWatermarkTruncation.LOWERED:
        p.high_watermark[r] = min(p.high_watermark[r], p.leo[r])
