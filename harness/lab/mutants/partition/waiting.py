"""Mutants of the lag time (which followers a leader waits for), and of fetch requests that wait for records."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.partition import delayed_fetch, high_watermark, isr, lag_time
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.refusals import Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State

LAG_TIME = Configuration(lag_time=True)
DELAYED_FETCH = Configuration(delayed_fetch=True)


@in_place_of(
    high_watermark.lowest_leo_in_isr,
    "a leader's high watermark waits for no member of the ISR that was not caught up within the lag time",
    settings=LAG_TIME,
)
def lagging_member_not_waited_for(p: State, leader: int) -> int:
    if not p.lag_time:
        return high_watermark.lowest_leo_in_isr(p, leader)
    lowest = p.leo[leader]
    members = high_watermark.effective_isr(p, leader) & p.caught_up[leader]
    for follower in range(p.replicas):
        if members >> follower & 1:
            lowest = min(lowest, high_watermark.replication_position(p, leader, follower))
    return lowest


@in_place_of(
    lag_time.lowest_leo_waited_for,
    "a leader's high watermark does not wait for a follower outside the ISR that has just caught up",
    settings=LAG_TIME,
)
def caught_up_follower_not_waited_for(p: State, leader: int, lowest: int) -> int:
    return lowest


@in_place_of(
    lag_time.lapse,
    "a follower that was caught up once counts as caught up after the lag time, too",
    settings=LAG_TIME,
)
def caught_up_for_good(p: State, r: int) -> int:
    before = p.caught_up[r]
    refusal = lag_time.lapse(p, r)
    p.caught_up[r] = before
    return refusal


@in_place_of(
    isr.shrink_by,
    "a leader removes a member from the ISR that was caught up within the lag time",
    settings=LAG_TIME,
)
def isr_shrunk_within_the_lag_time(p: State, leader: int, r: int) -> int:
    before = p.caught_up[leader]
    p.caught_up[leader] = 0
    refusal = isr.shrink_by(p, leader, r)
    p.caught_up[leader] = before
    return refusal


@in_place_of(
    delayed_fetch.complete,
    "a leader that answers a waiting fetch with a record takes note that the follower has the record",
    settings=DELAYED_FETCH,
)
def delayed_fetch_counted_beyond_its_offset(p: State, leader: int) -> None:
    for follower in range(p.replicas):
        if delayed_fetch.waits_at(p, follower) == leader:
            delayed_fetch.answer(p, leader, follower)
            high_watermark.note_position(p, leader, follower, p.leo[leader])


@in_place_of(
    delayed_fetch.expire_fetch,
    "a fetch whose wait is over stays in the purgatory as long as the high watermark is the same",
    settings=DELAYED_FETCH,
)
def delayed_fetch_without_end(p: State, r: int) -> int:
    leader = delayed_fetch.waits_at(p, r)
    if leader != NONE and p.high_watermark[leader] == p.high_watermark[r]:
        return Refusal.FETCH_WAITS
    return delayed_fetch.expire_fetch(p, r)


@in_place_of(
    delayed_fetch.complete,
    "a record that a leader appends completes no fetch that waits for it",
    settings=DELAYED_FETCH,
)
def delayed_fetch_not_completed(p: State, leader: int) -> None:
    pass
