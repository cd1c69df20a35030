"""Mutants of AlterPartition (KIP-497): the leader's proposals, and the controller's checks and responses."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.controller import controller, eligible_leaders
from epochfuzz.model.kafka.partition import alter_partition, high_watermark
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import Alter, State


@in_place_of(
    alter_partition.propose,
    "a leader uses its proposed ISR before the controller has accepted it",
    protocol="kip-966",
)
def isr_taken_as_proposed(p: State, leader: int, members: int) -> None:
    alter_partition.propose(p, leader, members)
    p.isr[leader] = members
    high_watermark.advance_leader(p, leader)


@in_place_of(
    high_watermark.effective_isr,
    "while a change of the ISR is pending, its leader waits only for members of both ISRs",
    protocol="kip-966",
)
def pending_members_not_awaited(p: State, leader: int) -> int:
    members = p.isr[leader]
    if p.pending_isr[leader] != 0:
        members &= p.pending_isr[leader]
    return members


@in_place_of(
    high_watermark.effective_isr,
    "the leader does not wait for a proposed ISR member until it has the response",
    protocol="kip-966",
)
def joining_replica_not_awaited(p: State, leader: int) -> int:
    return p.isr[leader]


@in_place_of(
    alter_partition.alter,
    "the controller checks that the sender of a request leads, but not the request's partition epoch",
    protocol="kip-966",
)
def leadership_alone_checked(p: State, r: int) -> int:
    if p.alter[r] == Alter.REQUEST and controller.true_leader(p) == r:
        p.alter_current[r] = 1
    return alter_partition.alter(p, r)


@in_place_of(
    alter_partition.alter,
    "a request that is sent again carries the current partition epoch, but the old ISR",
    protocol="kip-966",
)
def resent_with_the_latest_partition_epoch(p: State, r: int) -> int:
    if p.alter[r] == Alter.REQUEST and p.isr_current[r]:
        p.alter_current[r] = 1
    return alter_partition.alter(p, r)


@in_place_of(
    controller.decide,
    "an election raises the leader epoch, but not the partition epoch",
    protocol="kip-966",
)
def election_keeps_the_partition_epoch(p: State, new_leader: int, members: int) -> None:
    eligible_leaders.follow_isr(p, controller.isr(p), members)
    controller.open_epoch(p, new_leader, members)


@in_place_of(
    alter_partition.altered,
    "a leader reverts a rejected proposal, though the ISR may be as proposed",
    protocol="kip-966",
)
def refused_proposal_taken_back(p: State, r: int) -> int:
    if p.alter[r] == Alter.REFUSED:
        p.alter[r] = Alter.REVERTED
    return alter_partition.altered(p, r)


@in_place_of(
    alter_partition.altered,
    "a leader that has proposed an ineligible replica keeps its proposal pending",
    protocol="kip-966",
)
def ineligible_proposal_left_pending(p: State, r: int) -> int:
    if p.alter[r] == Alter.REVERTED:
        p.alter[r] = Alter.REFUSED
    return alter_partition.altered(p, r)


@in_place_of(
    alter_partition.take_isr,
    "a leader whose proposal is accepted uses the new ISR, but leaves it pending",
    protocol="kip-966",
)
def accepted_proposal_left_pending(p: State, leader: int) -> None:
    members = p.pending_isr[leader]
    alter_partition.take_isr(p, leader)
    p.pending_isr[leader] = members


@in_place_of(
    alter_partition.take_isr,
    "the response to a request lacks the partition epoch, so every later request is rejected",
    jira="KAFKA-12367",
    protocol="kip-595",
)
def partition_epoch_not_handed_on(p: State, leader: int) -> None:
    alter_partition.take_isr(p, leader)
    p.isr_current[leader] = 0


@in_place_of(
    alter_partition.forget_proposal,
    "a leader's proposal is still pending when it leads a later epoch",
    protocol="kip-966",
)
def proposal_outlives_its_reign(p: State, r: int) -> None:
    p.alter_mine[r] = 0


@in_place_of(
    alter_partition.resend,
    "a request whose response is lost is not sent again",
    protocol="kip-966",
)
def lost_answer_never_asked_for_again(p: State, r: int) -> int:
    refusal = alter_partition.resend(p, r)
    if refusal == APPLIED:
        alter_partition.forget_request(p, r)
    return refusal


@in_place_of(
    alter_partition.resend,
    "a leader takes back a request that it fails to send again, though the controller may have made the change",
    jira="KAFKA-14010",
    protocol="kip-595",
)
def request_taken_back_after_an_error(p: State, r: int) -> int:
    refusal = alter_partition.resend(p, r)
    if refusal == APPLIED:
        p.alter[r] = Alter.REVERTED
    return refusal
