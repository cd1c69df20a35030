"""Mutants of a replica that learns a leader-and-ISR update: mistakes in the state that the replica clears or keeps."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.partition import high_watermark, leadership, truncation
from epochfuzz.model.kafka.vocabulary.state import NONE, State


@in_place_of(leadership.step_down, "a leader keeps its followers' positions from an earlier leadership")
def followers_remembered_across_epochs(p: State, r: int) -> None:
    p.isr[r] = 0
    p.epoch_start[r] = 0
    p.led_from[r] = 0


@in_place_of(
    leadership.stay_leader,
    "a re-elected leader keeps its followers' positions, and lets them join the ISR without a fetch",
)
def staying_leader_remembers_its_followers(p: State, r: int, epoch_missed: bool) -> None:
    pass


@in_place_of(leadership.adopt, "a follower applies a former leader's response after it has learned of a new leader")
def answer_outlives_its_epoch(p: State, r: int, epoch: int, leader: int, members: int) -> None:
    previous_leader = p.known_leader[r]
    epoch_missed = epoch > p.known_epoch[r] + 1
    p.known_epoch[r] = epoch
    p.known_leader[r] = leader
    leadership.take_role(p, r, previous_leader, epoch_missed, members)


@in_place_of(
    leadership.lead,
    "a new leader starts with an ISR of itself, though the controller named more members",
)
def new_leader_counts_itself_only(p: State, r: int, led_before: bool, members: int) -> None:
    leadership.lead(p, r, led_before, members)
    p.isr[r] = 1 << r
    high_watermark.advance_leader(p, r)


@in_place_of(leadership.lead, "a new leader treats its whole log as committed")
def new_leader_commits_its_log(p: State, r: int, led_before: bool, members: int) -> None:
    p.high_watermark[r] = p.leo[r]
    leadership.lead(p, r, led_before, members)


@in_place_of(leadership.lead, "a new leader truncates its log to its high watermark")
def new_leader_drops_the_uncommitted(p: State, r: int, led_before: bool, members: int) -> None:
    truncation.cut(p, r, p.high_watermark[r])
    leadership.lead(p, r, led_before, members)


@in_place_of(
    leadership.lead,
    "a leader takes its high watermark, not its log end offset, for the start of its epoch",
)
def epoch_starts_at_high_watermark(p: State, r: int, led_before: bool, members: int) -> None:
    start = p.high_watermark[r]
    leadership.lead(p, r, led_before, members)
    p.epoch_start[r] = start


@in_place_of(
    leadership.take_role,
    "a re-elected leader does not start its new epoch, and waits for no replica",
)
def leader_again_goes_on_as_it_was(p: State, r: int, previous_leader: int, epoch_missed: bool, members: int) -> None:
    if previous_leader != r or p.known_leader[r] != r:
        leadership.take_role(p, r, previous_leader, epoch_missed, members)


@in_place_of(truncation.is_due, "a follower that skips leader-and-ISR updates continues fetching without truncation")
def skipped_epochs_not_truncated(p: State, leader_changed: bool, epoch_missed: bool) -> bool:
    return not epoch_missed and truncation.is_due(p, leader_changed, epoch_missed)


@in_place_of(
    leadership.take_role,
    "a replica that learns that there is no leader keeps following the former one",
    protocol="kip-320:leaderless=obeyed",
)
def follower_of_nobody_goes_on(p: State, r: int, previous_leader: int, epoch_missed: bool, members: int) -> None:
    leadership.take_role(p, r, previous_leader, epoch_missed, members)
    if p.known_leader[r] == NONE and previous_leader != r:
        p.known_leader[r] = previous_leader
