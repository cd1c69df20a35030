"""Truncation on fetch (KIP-595; Fetch version 12, Kafka 2.8): a follower fetches, and truncates if logs diverge.

Each fetch carries the epoch of the follower's last record. If this epoch ends before the fetch offset in the leader's
log, the leader responds with the epoch's end offset in place of records (a diverging response). The follower truncates
its log and fetches again, perhaps with an older epoch. This loop of fetches replaces the requests of KIP-279.
"""

from epochfuzz.model.kafka.partition import high_watermark, truncation
from epochfuzz.model.kafka.storage import epoch_cache, log_start
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import fails_fetchers, loses_last_fetched_epoch
from epochfuzz.model.kafka.vocabulary.mechanisms import DivergingFetch, DivergingHighWatermark, LateAnswer
from epochfuzz.model.kafka.vocabulary.state import NONE, FetchState, Flight, State


def end_of_last_epoch(p: State, leader: int, follower: int) -> tuple[int, int]:
    """Return (epoch, end offset) in the leader's log for the follower's last epoch, by the rule of KIP-279."""
    return epoch_cache.end_offset_kip_279(p, leader, epoch_cache.latest_epoch(p, follower), p.leo[leader])


def begin_fetching(p: State, follower: int) -> None:
    """Start a new fetch state for the follower (AbstractFetcherThread.partitionFetchState)."""
    if loses_last_fetched_epoch(p):
        p.fetch_state[follower] = FetchState.FRESH


def note_response(p: State, follower: int, has_epoch: bool) -> None:
    """Update the follower's fetch state after a response. `has_epoch`: the response has records or a new fetch offset.

    Kafka stores the last fetched epoch after a response with `has_epoch`. Kafka 3.5.1 to 3.6.2 also replace the stored
    epoch after a first response without records, although this response has no epoch (KAFKA-15080). The fix keeps the
    epoch that was known before (KAFKA-15510, AbstractFetcherThread.processFetchRequest).
    """
    if not loses_last_fetched_epoch(p):
        return
    if has_epoch:
        p.fetch_state[follower] = FetchState.WITH_EPOCH
    elif p.fetch_state[follower] == FetchState.FRESH:
        p.fetch_state[follower] = FetchState.WITHOUT_EPOCH
        p.goals |= Goal.LAST_FETCHED_EPOCH_LOST


def fetches_without_epoch(p: State, follower: int) -> bool:
    """Return whether the follower's fetch lacks the last fetched epoch, so that the leader cannot compare the logs."""
    return loses_last_fetched_epoch(p) and p.fetch_state[follower] == FetchState.WITHOUT_EPOCH


def diverges(p: State, leader: int, follower: int) -> bool:
    """Return whether the leader finds that the follower's log is not a prefix of the leader's log.

    Kafka's code for this is Partition.readRecords. Returns False if the fetch carries no epoch, or the follower's epoch
    cache is empty.
    """
    if fetches_without_epoch(p, follower):
        return False
    epoch, end = end_of_last_epoch(p, leader, follower)
    return end != NONE and (epoch < epoch_cache.latest_epoch(p, follower) or end < p.leo[follower])


def is_beyond(p: State, leader: int, follower: int) -> bool:
    """Return whether the fetch offset is beyond the leader's log, or the leader does not know the fetch's epoch."""
    if epoch_cache.latest_epoch(p, follower) == NONE or fetches_without_epoch(p, follower):
        return p.leo[follower] > p.leo[leader]
    _, end = end_of_last_epoch(p, leader, follower)
    return end == NONE


def answer_diverging(p: State, leader: int, follower: int) -> None:
    """Respond with the end offset of the follower's last epoch in the leader's log.

    The leader does not store the fetch offset as the follower's LEO. In 2.8.0 the leader stored it (KAFKA-13141).
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
        p.flight_count[follower] = high_watermark_read  # a diverging response has no records to count
    log_start.carry(p, leader, follower)


def apply_diverging(p: State, follower: int, epoch: int, end: int) -> None:
    """Truncate the follower's log to the end of the last epoch that both logs have, as far as the follower can tell.

    Up to 3.4.0 the follower first adopted the leader's high watermark from the response, although the response has no
    records (KAFKA-14704). Kafka's code for the truncation is AbstractFetcherThread.getOffsetTruncationState.
    """
    if p.diverging_high_watermark == DivergingHighWatermark.APPLIED and not is_taken(p, follower):
        high_watermark.advance_follower(p, follower, p.flight_count[follower])
        log_start.follow(p, follower)
        if fails_fetchers(p) and p.fetcher_failed[follower]:
            return
    p.goals |= Goal.LOG_CUT_BY_A_LATE_ANSWER * is_taken(p, follower)
    own_epoch, own_end = epoch_cache.end_offset_kip_279(p, follower, epoch, p.leo[follower])
    if own_epoch == epoch:
        truncation.cut_to_lower_end(p, follower, end, own_end)
    else:
        truncation.cut(p, follower, end if own_epoch == NONE else own_end)


def take_before_the_cut(p: State, follower: int) -> None:
    """Process a diverging response except for its truncation, before the follower learns a leader-and-ISR update.

    In 2.8.0 the fetcher thread released its lock before the truncation (AbstractFetcherThread.processFetchRequest,
    truncateOnFetchResponse; KAFKA-13207).
    """
    if p.flight[follower] != Flight.DIVERGING or p.flight_old[follower] != 0:
        return
    if p.diverging_high_watermark == DivergingHighWatermark.APPLIED:
        high_watermark.advance_follower(p, follower, p.flight_count[follower])
        log_start.follow(p, follower)


def is_taken(p: State, follower: int) -> bool:
    """Return whether the follower learned a leader-and-ISR update before it truncates by a diverging response.

    This can happen in 2.8.0 only. The follower has already processed the rest of the response.
    """
    return p.late_answer == LateAnswer.DIVERGING_ANY and p.flight_old[follower] != 0
