"""Mutants of KIP-841 and KIP-903: the conditions under which a restarted broker may join the ISR again."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.controller import broker_epochs
from epochfuzz.model.kafka.partition import alter_partition
from epochfuzz.model.kafka.vocabulary.state import NONE, Alter, State


@in_place_of(
    broker_epochs.note_restart,
    "a request for a change of the ISR does not carry the members' broker epochs",
    protocol="kip-966",
)
def request_without_broker_epochs(p: State, r: int) -> None:
    for leader in range(p.replicas):
        if p.remote_leos[leader, r] != NONE:
            p.remote_stale[leader] |= 1 << r


@in_place_of(
    broker_epochs.note_restart,
    "a leader counts a restarted follower as caught up, and sends its new broker epoch",
    protocol="kip-966",
)
def former_incarnation_taken_for_caught_up(p: State, r: int) -> None:
    for leader in range(p.replicas):
        if p.alter_isr[leader] >> r & 1 and p.alter[leader] == Alter.REQUEST:
            p.alter_stale[leader] |= 1 << r


@in_place_of(
    alter_partition.are_eligible,
    "the controller compares a request with the broker epochs that its leader knows at the time of the response",
    jira="KAFKA-15221",
    protocol="kip-966",
)
def broker_epoch_read_at_the_answer(p: State, r: int) -> bool:
    p.alter_stale[r] &= p.remote_stale[r]
    return alter_partition.are_eligible(p, r)


@in_place_of(
    alter_partition.are_eligible,
    "the controller checks the broker epoch of a member, but not whether it is alive",
    protocol="kip-966",
)
def dead_member_accepted(p: State, r: int) -> bool:
    return p.alter_stale[r] == 0
