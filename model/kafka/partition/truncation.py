"""Truncation: a follower makes its log a prefix of its leader's log before it fetches.

There are three rules, and each fixes a flaw of the previous rule. Up to 0.10.2 the follower truncates to its high
watermark. With KIP-101 the follower truncates to the end offset that its last epoch has on the leader. With KIP-279 the
follower truncates step by step, until its log ends with an epoch that the leader's log also has. Since KIP-595 the
follower fetches first, see truncation_on_fetch.py.
"""

from epochfuzz.model.kafka.storage import epoch_cache, idempotence, log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import (
    answers_survive_decisions,
    has_retention,
    remembers_cut_records,
    skips_question,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import (
    CacheTruncation,
    HighWatermarkTruncation,
    TruncateWhen,
    Truncation,
)
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, Phase, State


def is_due(p: State, leader_changed: bool, epoch_missed: bool) -> bool:
    """Return whether a follower has to truncate when it learns a leader-and-ISR update.

    The mechanism `truncate_when` decides. If followers truncate on fetch, the function returns False.
    """
    if p.truncation == Truncation.ON_FETCH:
        return False
    if p.truncate_when == TruncateWhen.EACH_EPOCH or leader_changed:
        return True
    return p.truncate_when == TruncateWhen.LEADER_CHANGED_OR_EPOCH_MISSED and epoch_missed


def begin(p: State, r: int) -> None:
    """Truncate r's log to r's high watermark now, or prepare r to ask its leader where to truncate (KIP-101)."""
    p.phase[r] = Phase.FETCHING
    if has_retention(p) and not has_epoch_to_ask_for(p, r):
        cut(p, r, p.high_watermark[r])  # truncateToHighWatermark; has an effect on a restarted log up to 2.3
    if p.truncation == Truncation.HIGH_WATERMARK:
        cut(p, r, p.high_watermark[r])
    elif has_epoch_to_ask_for(p, r):
        p.phase[r] = Phase.TRUNCATING
    elif answers_survive_decisions(p) and p.flight[r] != Flight.NOTHING:
        p.flight_old[r] = 1


def has_epoch_to_ask_for(p: State, r: int) -> bool:
    """Return whether r asks its leader for the end of an epoch before it fetches.

    A follower with an empty epoch cache asks for UNDEFINED_EPOCH in Kafka 0.11 to 2.0
    (ReplicaFetcherThread.buildLeaderEpochRequest). Since 2.1 such a follower fetches at once (AbstractFetcherThread).
    """
    return not skips_question(p) or p.cache_size[r] > 0


def requested_epoch(p: State, r: int) -> int:
    """Return the epoch whose end offset r requests: the latest in r's epoch cache, or NONE if the cache is empty."""
    return epoch_cache.latest_epoch(p, r)


def answer_epoch_request(p: State, leader: int, epoch: int) -> tuple[int, int]:
    """Return the leader's response to OffsetsForLeaderEpoch: (epoch, end offset), or (NONE, NONE) if undefined.

    With KIP-101 the response has no epoch, and the first element is NONE.
    """
    if p.truncation == Truncation.LEADER_EPOCH:
        return epoch_cache.end_offset_kip_101(p, leader, epoch, p.leo[leader])
    return epoch_cache.end_offset_kip_279(p, leader, epoch, p.leo[leader])


def apply_epoch_answer(p: State, r: int, epoch: int, end: int) -> None:
    """Truncate r's log by the response to OffsetsForLeaderEpoch that has arrived: the `end` offset of an `epoch`.

    The response is undefined if `end` is NONE. If the response to r's first request is undefined, r truncates to its
    high watermark. If a later response is undefined, r's log does not change.
    """
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
    """Truncate r's log to the end of the last epoch that both logs have (KIP-279).

    If r's log lacks `epoch` but has an older epoch, r truncates to the end of that older epoch. r then has to ask its
    leader again.
    """
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
    """Truncate r's log to the lower of two end offsets of one epoch: the leader's `end`, and r's `own_end`."""
    cut(p, r, min(end, own_end))


def cut(p: State, r: int, end: int) -> None:
    """Truncate r's log to `end` if the log is longer, together with its epoch cache, high watermark and flushed offset.

    The cache is truncated even if the log is not. A cache entry that starts at the LEO belongs to an epoch without a
    record. The follower would request the end of this epoch again and again (KAFKA-10706). Some releases keep such
    entries, or a high watermark beyond the log.
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
