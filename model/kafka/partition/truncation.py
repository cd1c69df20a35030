"""Truncation: how a follower makes its log a prefix of its leader's before it fetches.

Three rules, each the answer to what the one before got wrong: cut to the high watermark (Kafka up to 0.10.2), cut
where the leader says the follower's last epoch ended (KIP-101), and cut step by step until both know the epoch
(KIP-279). For the rule of today, which has no truncation before the fetch, see truncation_on_fetch.py.
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
    """Whether news of another leader makes a replica truncate, by the partition's `truncate_when`."""
    if p.truncation == Truncation.ON_FETCH:
        return False
    if p.truncate_when == TruncateWhen.EACH_EPOCH or leader_changed:
        return True
    return p.truncate_when == TruncateWhen.LEADER_CHANGED_OR_EPOCH_MISSED and epoch_missed


def begin(p: State, r: int) -> None:
    """r starts to follow and must truncate: at once to its high watermark, or by asking the leader first."""
    p.phase[r] = Phase.FETCHING
    if p.truncation == Truncation.HIGH_WATERMARK:
        cut(p, r, p.high_watermark[r])
    elif has_epoch_to_ask_for(p, r):
        p.phase[r] = Phase.TRUNCATING
    elif answers_survive_decisions(p) and p.flight[r] != Flight.NOTHING:
        p.flight_old[r] = 1


def has_epoch_to_ask_for(p: State, r: int) -> bool:
    """Whether r asks its leader before it fetches. With an empty log too, and until KIP-320 with an empty cache.

    ReplicaFetcherThread.buildLeaderEpochRequest asks for UNDEFINED_EPOCH then (Kafka 0.11 to 2.0);
    AbstractFetcherThread goes on to fetch (2.1).
    """
    return not skips_question(p) or p.cache_size[r] > 0


def requested_epoch(p: State, r: int) -> int:
    """Return the epoch that r asks for: the last one that it has an entry of."""
    return epoch_cache.latest_epoch(p, r)


def answer_epoch_request(p: State, leader: int, epoch: int) -> tuple[int, int]:
    """(epoch, end offset) in the leader's answer to OffsetsForLeaderEpoch(epoch); (NONE, NONE) for undefined."""
    if p.truncation == Truncation.LEADER_EPOCH:
        return epoch_cache.end_offset_kip_101(p, leader, epoch, p.leo[leader])
    return epoch_cache.end_offset_kip_279(p, leader, epoch, p.leo[leader])


def apply_epoch_answer(p: State, r: int, epoch: int, end: int) -> None:
    """r receives where its epoch ends in the leader's log, and truncates its own log by the partition's rule."""
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
    """KIP-279: cut to where both logs still have the same epoch, or ask again from an older one."""
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
    """Both logs have the epoch: they are equal up to where it ends first."""
    cut(p, r, min(end, own_end))


def cut(p: State, r: int, end: int) -> None:
    """Cut r's log to `end` if it is longer, and with it the epoch cache, the high watermark and the flushed part.

    The cache is truncated even where the log is not: an epoch that starts at the LEO has no record to show for itself,
    and kept it makes the follower ask for the same epoch for ever (KAFKA-10706).
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
