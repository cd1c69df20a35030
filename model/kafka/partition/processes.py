"""A replica's process: the process loses its memory when it dies, and loads the replica's disk when it starts."""

from epochfuzz.model.kafka.controller import broker_epochs, fail_over, leader_metadata
from epochfuzz.model.kafka.partition import alter_partition, delayed_fetch, flight, lag_time, truncation_on_fetch
from epochfuzz.model.kafka.storage import epoch_cache, log_start
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import fails_fetchers, forgets_records, registers_in_two_steps
from epochfuzz.model.kafka.vocabulary.state import NONE, Incarnation, Phase, State


def die(p: State, r: int) -> None:
    """End r's process: clear its memory and keep its disk.

    r's high watermark changes to the value that a restart would load: the value on disk, but at most r's LEO.
    """
    p.up[r] = 0
    p.waiting[r] = 0
    if p.delayed_fetch:
        delayed_fetch.fail(p, r)
    p.remembered[r] = 0
    if fails_fetchers(p):
        p.fetcher_failed[r] = 0
    forget_leadership(p, r)
    alter_partition.forget_request(p, r)
    flight.discard_answer(p, r)
    truncation_on_fetch.begin_fetching(p, r)
    fail_over.forget_sender(p, r)
    if registers_in_two_steps(p):
        p.incarnation[r] = Incarnation.CAUGHT_UP
    p.known_epoch[r] = NONE
    p.known_leader[r] = NONE
    p.phase[r] = Phase.FETCHING
    if p.asynchronous_checkpoint:
        if p.checkpointed[r] < p.high_watermark[r]:
            p.goals |= Goal.HIGH_WATERMARK_RESTARTED_LOWER
        p.high_watermark[r] = p.checkpointed[r]
    p.high_watermark[r] = min(p.high_watermark[r], p.leo[r])
    log_start.bound_high_watermark(p, r)


def start(p: State, r: int) -> None:
    """Start r with the data on its disk. The next `notify` delivers the current update, and r skips all earlier ones.

    In KRaft, r learns nothing before the controller has registered it. This is the rule of 3.3 and 3.4 (BrokerServer,
    3.4.1). From 3.5.0 on a broker may learn updates earlier, see docs/explain/limits.md.

    When r loads its log, it removes the entries of its epoch cache that start at the log's end or beyond
    (LeaderEpochFileCache.clearAndFlushLatest, Kafka 0.11 to 3.9).

    Of each producer, r then knows only the last record (see idempotence.py).
    """
    p.up[r] = 1
    if registers_in_two_steps(p):
        p.incarnation[r] = Incarnation.UNREGISTERED
    else:
        p.known_epoch[r] = p.controller_epoch - 1
    epoch_cache.truncate_from_end(p, r, p.leo[r])
    if forgets_records(p):
        p.snapshot_offset[r] = p.leo[r]
    if not registers_in_two_steps(p):
        broker_epochs.note_restart(p, r)


def write_all(p: State, r: int) -> None:
    """Write r's log and high watermark to disk."""
    if p.power_loss:
        p.flushed[r] = p.leo[r]
    if p.asynchronous_checkpoint:
        p.checkpointed[r] = p.high_watermark[r]


def forget_leadership(p: State, r: int) -> None:
    """Clear everything that r knows as a leader: its ISR, its proposal, and the LEOs of its followers."""
    alter_partition.forget_proposal(p, r)
    p.isr[r] = 0
    p.isr_current[r] = 0
    p.epoch_start[r] = 0
    p.led_from[r] = 0
    forget_followers(p, r)
    leader_metadata.forget(p, r)


def forget_followers(p: State, leader: int) -> None:
    """Clear the leader's knowledge of its followers."""
    p.fetched[leader] = 0
    p.caught_up[leader] = 0
    p.remote_stale[leader] = 0
    for follower in range(p.replicas):
        p.remote_leos[leader, follower] = NONE
    if p.lag_time:
        lag_time.forget_fetches(p, leader)
