"""The log start offset: the first offset that a replica has not deleted. Retention and DeleteRecords raise it.

A follower adopts its leader's log start from each response with records. A follower whose log ends below the leader's
log start deletes its log, and starts again there (AbstractFetcherThread.fetchOffsetAndTruncate). The records below a
log start do not count as lost: `deleted` is the set of all records that the event `trim` has deleted on a replica.

A log has the record DELETED at each offset below its start, so that every later record keeps its place in the word, see
log.py.
"""

from epochfuzz.model.kafka.storage import epoch_cache, log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import has_retention, registers_in_two_steps
from epochfuzz.model.kafka.vocabulary.mechanisms import HighWatermarkTruncation
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import DELETED, NONE, State


def trim(p: State, r: int) -> int:
    """Delete the first record of r's log, if consumers may read this record. Returns APPLIED, or a Refusal.

    Kafka's code for this is UnifiedLog.deletableSegments and deleteRecords.
    """
    if not has_retention(p):
        return Refusal.DOES_NOT_HAPPEN
    if not p.up[r]:
        return Refusal.IS_DOWN
    if not has_high_watermark(p, r):
        return Refusal.KNOWS_NO_LEADER
    start = p.log_start[r]
    if start >= min(p.high_watermark[r], p.leo[r]):
        return Refusal.NOTHING_TO_DELETE
    note_deletion(p, r)
    delete_below(p, r, start + 1)
    return APPLIED


def has_high_watermark(p: State, r: int) -> bool:
    """Return whether r has learned a leader-and-ISR update since it started.

    Before its first update, r's log has no high watermark (Partition.createLog), and no record can be deleted.
    """
    return p.known_leader[r] != NONE or (registers_in_two_steps(p) and p.known_epoch[r] != NONE)


def note_deletion(p: State, r: int) -> None:
    """End the guarantees to clients for the first record of r's log, because r is allowed to delete it."""
    if p.log_start[r] < p.leo[r]:
        p.deleted |= 1 << log.at(p.log_record[r], p.log_start[r])


def delete_below(p: State, r: int, start: int) -> None:
    """Delete r's records below `start` and their leader epochs (UnifiedLog.maybeIncrementLogStartOffset)."""
    for offset in range(p.log_start[r], start):
        p.standing[r] &= ~(1 << log.at(p.log_record[r], offset))
        p.log_record[r] |= DELETED << 4 * offset
        p.log_epoch[r] &= ~(15 << 4 * offset)
    p.log_start[r] = start
    p.flushed[r] = max(p.flushed[r], start)
    epoch_cache.truncate_from_start(p, r, start)


def carry(p: State, leader: int, follower: int) -> None:
    """Add the leader's log start to the response in flight to the follower."""
    if has_retention(p):
        p.flight_log_start[follower] = p.log_start[leader]


def follow(p: State, follower: int) -> None:
    """Let a follower adopt the log start in its leader's response, after it has adopted the leader's high watermark.

    The follower cannot delete records above its own high watermark. If the log start is above this high watermark, the
    follower's fetcher fails, and fetches no more until the next leader epoch or until the follower restarts
    (KAFKA-12996, AbstractFetcherThread.markPartitionFailed).
    """
    if has_retention(p):
        start = p.flight_log_start[follower]
        if start > p.high_watermark[follower]:
            p.fetcher_failed[follower] = 1
        elif start > p.log_start[follower]:
            p.goals |= Goal.LOG_START_FOLLOWED
            delete_below(p, follower, start)


def restart_log(p: State, r: int, start: int) -> None:
    """Delete r's whole log, and let it start at offset `start`, which is beyond its end (truncateFullyAndStartAt)."""
    p.goals |= Goal.LOG_RESTARTED
    log.truncate(p, r, p.log_start[r])
    epoch_cache.truncate_from_end(p, r, 0)
    p.leo[r] = start
    delete_below(p, r, start)
    bound_high_watermark(p, r)


def bound_high_watermark(p: State, r: int) -> None:
    """Raise a high watermark below r's log start to the log start (UnifiedLog.updateHighWatermark, since Kafka 2.4)."""
    if has_retention(p) and p.high_watermark_truncation == HighWatermarkTruncation.LOWERED:
        p.high_watermark[r] = max(p.high_watermark[r], p.log_start[r])


def behind(p: State, leader: int) -> int:
    """Return the set of live replicas with a lower log start than the leader; empty if `leader` is NONE."""
    replicas = 0
    for r in range(p.replicas):
        if leader != NONE and p.up[r] and p.log_start[r] < p.log_start[leader]:
            replicas |= 1 << r
    return replicas
