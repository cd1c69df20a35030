"""Mistakes in what a leader waits for: followers that lag or have just caught up, and fetches in its purgatory."""

from epochfuzz.harness.defects.defect import in_place_of
from epochfuzz.model.kafka.partition import delayed_fetch, high_watermark, isr
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State


@in_place_of(
    high_watermark.lowest_leo_in_isr,
    "a leader's high watermark waits for no member of the ISR that was not caught up within the lag time",
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
    isr.why_not_caught_up,
    "a follower that was caught up within the lag time joins the ISR, though it is below the high watermark",
)
def isr_joined_within_the_lag_time(p: State, leader: int, r: int) -> int:
    if p.lag_time and p.caught_up[leader] >> r & 1:
        return APPLIED
    return isr.why_not_caught_up(p, leader, r)


@in_place_of(
    delayed_fetch.complete,
    "a leader that answers a waiting fetch with a record takes note that the follower has the record",
)
def delayed_fetch_counted_beyond_its_offset(p: State, leader: int) -> None:
    for follower in range(p.replicas):
        if delayed_fetch.waits_at(p, follower) == leader:
            delayed_fetch.answer(p, leader, follower)
            high_watermark.note_position(p, leader, follower, p.leo[leader])


@in_place_of(
    delayed_fetch.expire_fetch,
    "a fetch whose wait is over stays in the purgatory as long as the high watermark is the same",
)
def delayed_fetch_without_end(p: State, r: int) -> int:
    leader = delayed_fetch.waits_at(p, r)
    if leader != NONE and p.high_watermark[leader] == p.high_watermark[r]:
        return Refusal.FETCH_WAITS
    return delayed_fetch.expire_fetch(p, r)
