"""Mistakes in truncation on fetch (KIP-595): when logs diverge, what the leader answers, and what the follower cuts."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.partition import high_watermark, truncation, truncation_on_fetch
from epochfuzz.model.kafka.storage import epoch_cache
from epochfuzz.model.kafka.vocabulary.state import NONE, State


@in_place_of(
    truncation_on_fetch.diverges,
    "the leader compares the end of an epoch with the fetch offset by <=, and has nobody ever caught up",
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
    "the leader compares the end of an epoch with the fetch offset, and does not look which epoch it found",
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
    "the leader looks which epoch it found, and compares the fetch offset with its own log end offset alone",
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
    "a follower diverges whose last epoch is another than its leader's, be it an earlier one of both",
    protocol="kip-966",
)
def earlier_epoch_diverges(p: State, leader: int, follower: int) -> bool:
    if truncation_on_fetch.diverges(p, leader, follower):
        return True
    last_epoch = epoch_cache.latest_epoch(p, follower)
    return last_epoch != NONE and last_epoch != epoch_cache.latest_epoch(p, leader)


@in_place_of(
    truncation_on_fetch.diverges,
    "a fetch carries the leader epoch that the follower knows, where the epoch of its last record belongs",
    protocol="kip-966",
)
def fetch_carries_the_known_epoch(p: State, leader: int, follower: int) -> bool:
    if epoch_cache.latest_epoch(p, follower) == NONE:
        return False
    _, end = epoch_cache.end_offset_kip_279(p, leader, p.known_epoch[follower], p.leo[leader])
    return end < p.leo[follower]


@in_place_of(
    truncation_on_fetch.answer_diverging,
    "the leader answers with its own log end offset, where the end of the follower's epoch belongs",
    protocol="kip-966",
)
def diverging_answer_has_the_log_end(p: State, leader: int, follower: int) -> None:
    truncation_on_fetch.answer_diverging(p, leader, follower)
    p.flight_offset[follower] = p.leo[leader]


@in_place_of(
    truncation_on_fetch.answer_diverging,
    "the leader takes note of a fetch offset before it compares logs, as far as its own log goes",
    jira="KAFKA-13141",
    protocol="kip-966",
)
def diverging_fetch_noted(p: State, leader: int, follower: int) -> None:
    truncation_on_fetch.answer_diverging(p, leader, follower)
    high_watermark.note_position(p, leader, follower, min(p.leo[follower], p.leo[leader]))


@in_place_of(
    truncation_on_fetch.answer_diverging,
    "the leader takes the follower for cut to where it tells it to cut",
    protocol="kip-966",
)
def diverging_end_noted(p: State, leader: int, follower: int) -> None:
    truncation_on_fetch.answer_diverging(p, leader, follower)
    high_watermark.note_position(p, leader, follower, min(p.leo[follower], p.flight_offset[follower]))


@in_place_of(
    truncation_on_fetch.apply_diverging,
    "the follower truncates to where the leader's epoch ends, though its own may end before",
    protocol="kip-966",
)
def diverging_follower_ignores_its_own_end(p: State, follower: int, epoch: int, end: int) -> None:
    truncation.cut(p, follower, end)


@in_place_of(
    truncation_on_fetch.apply_diverging,
    "the follower truncates to where the epoch ends in its own log, though the leader's may end before",
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
