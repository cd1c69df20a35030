"""Truncation on fetch (KIP-595; Fetch version 12, Kafka 2.8): no follower asks where an epoch ends before it fetches.

Each fetch carries the epoch of the follower's last record. A leader on which that epoch ends before the fetch offset
answers with where it ends, in place of records; the follower truncates its log, and its next fetch asks again. The loop
of KIP-279 has become a loop of fetches.
"""

from epochfuzz.model.kafka.partition import high_watermark, truncation
from epochfuzz.model.kafka.storage import epoch_cache
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import loses_last_fetched_epoch
from epochfuzz.model.kafka.vocabulary.mechanisms import DivergingFetch, DivergingHighWatermark, LateAnswer
from epochfuzz.model.kafka.vocabulary.state import NONE, FetchState, Flight, State


def end_of_last_epoch(p: State, leader: int, follower: int) -> tuple[int, int]:
    """(epoch, end offset) on the leader of the epoch of the follower's last record, as `end_offset_kip_279` has it."""
    return epoch_cache.end_offset_kip_279(p, leader, epoch_cache.latest_epoch(p, follower), p.leo[leader])


def begin_fetching(p: State, follower: int) -> None:
    """Give the partition a fetch state of its own, as the follower (AbstractFetcherThread.partitionFetchState)."""
    if loses_last_fetched_epoch(p):
        p.fetch_state[follower] = FetchState.FRESH


def note_response(p: State, follower: int, has_epoch: bool) -> None:
    """Take over the last fetched epoch from a response, if it has records or sets a new fetch offset.

    Kafka 3.5.1 to 3.6.2 also took it from a first response without records, which has none: KAFKA-15080 made a fetch
    state of it because the lag was empty, and KAFKA-15510 keeps the epoch (AbstractFetcherThread.processFetchRequest).
    """
    if not loses_last_fetched_epoch(p):
        return
    if has_epoch:
        p.fetch_state[follower] = FetchState.WITH_EPOCH
    elif p.fetch_state[follower] == FetchState.FRESH:
        p.fetch_state[follower] = FetchState.WITHOUT_EPOCH
        p.goals |= Goal.LAST_FETCHED_EPOCH_LOST


def fetches_without_epoch(p: State, follower: int) -> bool:
    """Return whether the follower's fetch carries no last fetched epoch, so that the leader compares no logs."""
    return loses_last_fetched_epoch(p) and p.fetch_state[follower] == FetchState.WITHOUT_EPOCH


def diverges(p: State, leader: int, follower: int) -> bool:
    """Whether the leader finds that the follower's log is no prefix of its own (Partition.readRecords).

    With an empty cache the follower's log is empty, and there is nothing to check.
    """
    if fetches_without_epoch(p, follower):
        return False
    epoch, end = end_of_last_epoch(p, leader, follower)
    return end != NONE and (epoch < epoch_cache.latest_epoch(p, follower) or end < p.leo[follower])


def is_beyond(p: State, leader: int, follower: int) -> bool:
    """Whether the fetch is out of range: by its offset, or for an epoch that the leader knows nothing of."""
    if epoch_cache.latest_epoch(p, follower) == NONE or fetches_without_epoch(p, follower):
        return p.leo[follower] > p.leo[leader]
    _, end = end_of_last_epoch(p, leader, follower)
    return end == NONE


def answer_diverging(p: State, leader: int, follower: int) -> None:
    """Answer with where the follower's last epoch ends in the leader's log; nothing is noted of the follower.

    In 2.8.0 it took the fetch offset for the follower's LEO all the same, once it had the answer (KAFKA-13141).
    """
    epoch, end = end_of_last_epoch(p, leader, follower)
    high_watermark_read = p.high_watermark[leader]
    if p.diverging_fetch == DivergingFetch.COUNTED:
        high_watermark.note_position(p, leader, follower, p.leo[follower])
    p.goals |= Goal.FETCH_DIVERGED
    p.flight[follower] = Flight.DIVERGING
    p.flight_epoch[follower] = epoch
    p.flight_offset[follower] = end
    if p.diverging_high_watermark == DivergingHighWatermark.APPLIED:
        p.flight_count[follower] = high_watermark_read


def apply_diverging(p: State, follower: int, epoch: int, end: int) -> None:
    """Cut the follower's log to where both logs still had the same epoch, as far as it can tell.

    AbstractFetcherThread.getOffsetTruncationState. Up to 3.4.0 the leader's high watermark was taken over first, from
    an answer that brings no records (KAFKA-14704); then the truncation lowers it again.
    """
    if p.diverging_high_watermark == DivergingHighWatermark.APPLIED and not is_taken(p, follower):
        high_watermark.advance_follower(p, follower, p.flight_count[follower])
    p.goals |= Goal.LOG_CUT_BY_A_LATE_ANSWER * is_taken(p, follower)
    own_epoch, own_end = epoch_cache.end_offset_kip_279(p, follower, epoch, p.leo[follower])
    if own_epoch == epoch:
        truncation.cut_to_lower_end(p, follower, end, own_end)
    else:
        truncation.cut(p, follower, end if own_epoch == NONE else own_end)


def take_before_the_cut(p: State, follower: int) -> None:
    """Take an answer that tells of a divergence; the fetcher thread lets go of its lock before it truncates the log.

    AbstractFetcherThread.processFetchRequest and truncateOnFetchResponse, Kafka 2.8.0 (KAFKA-13207).
    """
    if p.flight[follower] != Flight.DIVERGING or p.flight_old[follower] != 0:
        return
    if p.diverging_high_watermark == DivergingHighWatermark.APPLIED:
        high_watermark.advance_follower(p, follower, p.flight_count[follower])


def is_taken(p: State, follower: int) -> bool:
    """Whether the thread has done so, and a decision has come since."""
    return p.late_answer == LateAnswer.DIVERGING_ANY and p.flight_old[follower] != 0
