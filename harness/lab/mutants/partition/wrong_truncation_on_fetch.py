"""Mutants of truncation on fetch (KIP-595): the leader's response, and the follower's truncation."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.partition import high_watermark, truncation, truncation_on_fetch
from epochfuzz.model.kafka.storage import epoch_cache
from epochfuzz.model.kafka.vocabulary.state import NONE, State


@in_place_of(
    truncation_on_fetch.diverges,
    "the leader compares the end of an epoch with the fetch offset by <=, so no follower ever catches up",
    protocol="kip-966",
)
def caught_up_diverges(p: State, leader: int, follower: int) -> bool:
    last_epoch = epoch_cache.latest_epoch(p, follower)
    if last_epoch == NONE:
        return False
    epoch, end = epoch_cache.end_offset_kip_279(p, leader, last_epoch, p.leo[leader])
    return end != NONE and (epoch < last_epoch or end <= p.leo[follower])


@in_place_of(
    truncation_on_fetch.diverges,
    "the leader compares the end of an epoch with the fetch offset, but ignores which epoch it found",
    protocol="kip-966",
)
def unknown_epoch_does_not_diverge(p: State, leader: int, follower: int) -> bool:
    last_epoch = epoch_cache.latest_epoch(p, follower)
    if last_epoch == NONE:
        return False
    _, end = epoch_cache.end_offset_kip_279(p, leader, last_epoch, p.leo[leader])
    return end < p.leo[follower]


@in_place_of(
    truncation_on_fetch.diverges,
    "the leader checks which epoch it found, but compares the fetch offset only with its log end offset",
    protocol="kip-966",
)
def longer_epoch_does_not_diverge(p: State, leader: int, follower: int) -> bool:
    last_epoch = epoch_cache.latest_epoch(p, follower)
    if last_epoch == NONE:
        return False
    epoch, _ = epoch_cache.end_offset_kip_279(p, leader, last_epoch, p.leo[leader])
    return epoch < last_epoch


@longer_epoch_does_not_diverge.and_in_place_of(truncation_on_fetch.is_beyond)
def _(p: State, leader: int, follower: int) -> bool:
    return p.leo[follower] > p.leo[leader]


@in_place_of(
    truncation_on_fetch.diverges,
    "the leader compares no logs if it has no record to return",
    jira="KAFKA-15510",
    protocol="kip-966",
)
def caught_up_follower_is_not_compared(p: State, leader: int, follower: int) -> bool:
    return p.leo[follower] != p.leo[leader] and truncation_on_fetch.diverges(p, leader, follower)


@in_place_of(
    truncation_on_fetch.diverges,
    "a follower diverges if its last epoch differs from its leader's, even if both logs have that epoch",
    protocol="kip-966",
)
def earlier_epoch_diverges(p: State, leader: int, follower: int) -> bool:
    if truncation_on_fetch.diverges(p, leader, follower):
        return True
    last_epoch = epoch_cache.latest_epoch(p, follower)
    return last_epoch != NONE and last_epoch != epoch_cache.latest_epoch(p, leader)


@in_place_of(
    truncation_on_fetch.diverges,
    "a fetch carries the follower's known leader epoch instead of its last record's epoch",
    protocol="kip-966",
)
def fetch_carries_the_known_epoch(p: State, leader: int, follower: int) -> bool:
    if epoch_cache.latest_epoch(p, follower) == NONE:
        return False
    _, end = epoch_cache.end_offset_kip_279(p, leader, p.known_epoch[follower], p.leo[leader])
    return end < p.leo[follower]


@in_place_of(
    truncation_on_fetch.answer_diverging,
    "the leader responds with its own log end offset instead of the end of the follower's epoch",
    protocol="kip-966",
)
def diverging_answer_has_the_log_end(p: State, leader: int, follower: int) -> None:
    truncation_on_fetch.answer_diverging(p, leader, follower)
    p.flight_offset[follower] = p.leo[leader]


@in_place_of(
    truncation_on_fetch.answer_diverging,
    "the leader notes a fetch offset, up to its own log end, before it compares logs",
    jira="KAFKA-13141",
    protocol="kip-966",
)
def diverging_fetch_noted(p: State, leader: int, follower: int) -> None:
    truncation_on_fetch.answer_diverging(p, leader, follower)
    high_watermark.note_position(p, leader, follower, min(p.leo[follower], p.leo[leader]))


@in_place_of(
    truncation_on_fetch.answer_diverging,
    "the leader assumes that the follower has truncated to the offset in the response",
    protocol="kip-966",
)
def diverging_end_noted(p: State, leader: int, follower: int) -> None:
    truncation_on_fetch.answer_diverging(p, leader, follower)
    high_watermark.note_position(p, leader, follower, min(p.leo[follower], p.flight_offset[follower]))


@in_place_of(
    truncation_on_fetch.apply_diverging,
    "the follower truncates to the leader's end of the epoch, though its own may be lower",
    protocol="kip-966",
)
def diverging_follower_ignores_its_own_end(p: State, follower: int, epoch: int, end: int) -> None:
    truncation.cut(p, follower, end)


@in_place_of(
    truncation_on_fetch.apply_diverging,
    "the follower truncates to its own end of the epoch, though the leader's may be lower",
    protocol="kip-966",
)
def diverging_follower_ignores_the_leaders_end(p: State, follower: int, epoch: int, end: int) -> None:
    own_epoch, own_end = epoch_cache.end_offset_kip_279(p, follower, epoch, p.leo[follower])
    truncation.cut(p, follower, end if own_epoch == NONE else own_end)


@in_place_of(
    truncation_on_fetch.apply_diverging,
    "a follower whose log diverges copies its leader's from the start",
    protocol="kip-966",
)
def diverging_follower_starts_anew(p: State, follower: int, epoch: int, end: int) -> None:
    truncation.cut(p, follower, 0)


@in_place_of(
    truncation_on_fetch.apply_diverging,
    "a follower whose log diverges truncates it to its own high watermark",
    jira="KAFKA-1211",
    protocol="kip-966",
)
def diverging_follower_cuts_to_high_watermark(p: State, follower: int, epoch: int, end: int) -> None:
    truncation.cut(p, follower, p.high_watermark[follower])
