"""Mutants of truncation: a follower truncates at the wrong time, or to the wrong offset."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.partition import truncation
from epochfuzz.model.kafka.storage import epoch_cache
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.state import NONE, Phase, State


@in_place_of(truncation.begin, "a new follower keeps its whole log and starts to fetch")
def no_truncation(p: State, r: int) -> None:
    p.phase[r] = Phase.FETCHING


@in_place_of(
    truncation.begin,
    "a new follower truncates its log to its own high watermark instead of asking where its epoch ends",
    jira="KAFKA-1211",
)
def truncates_to_high_watermark(p: State, r: int) -> None:
    p.phase[r] = Phase.FETCHING
    truncation.cut(p, r, p.high_watermark[r])


@in_place_of(
    truncation.begin,
    "a new follower with nothing above its high watermark starts to fetch without asking",
)
def truncates_only_above_high_watermark(p: State, r: int) -> None:
    p.phase[r] = Phase.FETCHING
    if p.leo[r] > p.high_watermark[r]:
        truncation.begin(p, r)


@in_place_of(
    truncation.is_due,
    "a notification of a later epoch with the same leader does not make a follower truncate",
    jira="KAFKA-7164",
)
def truncates_at_leader_change_only(p: State, leader_changed: bool, epoch_missed: bool) -> bool:
    return leader_changed


@in_place_of(
    truncation.cut_stepwise,
    "a follower truncates to the response's end offset, whichever epoch ends there",
    jira="KAFKA-6361",
)
def answered_epoch_ignored(p: State, r: int, epoch: int, end: int) -> None:
    truncation.cut(p, r, end)


@in_place_of(truncation.cut_to_lower_end, "the minimum that the follower truncates to ignores the end of its own epoch")
def truncates_to_the_leaders_end_only(p: State, r: int, end: int, own_end: int) -> None:
    truncation.cut(p, r, end)


@in_place_of(
    truncation.cut_to_lower_end,
    "the minimum that the follower truncates to ignores the end of the leader's epoch",
)
def truncates_to_its_own_end_only(p: State, r: int, end: int, own_end: int) -> None:
    truncation.cut(p, r, own_end)


@in_place_of(truncation.cut_to_lower_end, "the follower truncates to the greater of the two ends of an epoch")
def truncates_to_the_greater_end(p: State, r: int, end: int, own_end: int) -> None:
    truncation.cut(p, r, max(end, own_end))


@in_place_of(
    truncation.cut_stepwise,
    "a follower that goes back to an older epoch does not ask where that epoch ends",
)
def asks_once(p: State, r: int, epoch: int, end: int) -> None:
    truncation.cut_stepwise(p, r, epoch, end)
    p.phase[r] = Phase.FETCHING


@in_place_of(
    truncation.cut_stepwise,
    "a follower that has no epoch as old as the response's epoch drops its whole log",
)
def unknown_epoch_cuts_everything(p: State, r: int, epoch: int, end: int) -> None:
    own_epoch, _ = epoch_cache.end_offset_kip_279(p, r, epoch, p.leo[r])
    truncation.cut_stepwise(p, r, epoch, 0 if own_epoch == NONE else end)


@in_place_of(
    truncation.cut_stepwise,
    "a follower that has no epoch as old as the response's epoch keeps its whole log",
)
def unknown_epoch_cuts_nothing(p: State, r: int, epoch: int, end: int) -> None:
    own_epoch, _ = epoch_cache.end_offset_kip_279(p, r, epoch, p.leo[r])
    if own_epoch != NONE:
        truncation.cut_stepwise(p, r, epoch, end)


@in_place_of(truncation.apply_epoch_answer, "a follower whose leader does not know its epoch keeps its whole log")
def undefined_answer_cuts_nothing(p: State, r: int, epoch: int, end: int) -> None:
    if end != NONE:
        truncation.apply_epoch_answer(p, r, epoch, end)
    else:
        p.phase[r] = Phase.FETCHING
        p.goals |= Goal.EPOCH_ANSWER_UNDEFINED


@in_place_of(truncation.cut, "a truncation leaves one record more than it should")
def cut_one_short(p: State, r: int, end: int) -> None:
    truncation.cut(p, r, end + 1)


@in_place_of(truncation.cut, "a truncation takes one record more than it should")
def cut_one_too_far(p: State, r: int, end: int) -> None:
    truncation.cut(p, r, max(0, end - 1) if end < p.leo[r] else end)


@in_place_of(truncation.cut, "a truncation below the high watermark leaves the high watermark where it was")
def high_watermark_outlives_the_cut(p: State, r: int, end: int) -> None:
    high_watermark = p.high_watermark[r]
    truncation.cut(p, r, end)
    p.high_watermark[r] = high_watermark


@in_place_of(truncation.cut, "a truncation below the flushed offset leaves the flushed offset where it was")
def flushed_outlives_the_cut(p: State, r: int, end: int) -> None:
    flushed = p.flushed[r]
    truncation.cut(p, r, end)
    p.flushed[r] = flushed
