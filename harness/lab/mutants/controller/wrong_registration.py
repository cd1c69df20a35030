"""Mutants of registration and fencing (KIP-380, KRaft): the roles that a restarted broker loses."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.broker import registration
from epochfuzz.model.kafka.controller import controller, eligible_leaders
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import State


@in_place_of(
    registration.take_for_failed,
    "a follower that is back before its session expires stays in the ISR",
    jira="KAFKA-7235",
    protocol="kip-966",
)
def bounced_follower_stays_in_sync(p: State, r: int) -> int:
    return registration.take_for_failed(p, r) if controller.leader(p) == r else APPLIED


@in_place_of(
    registration.take_for_failed,
    "a leader that is back before its session expires loses leadership, but stays in the ISR",
    jira="KAFKA-7235",
    protocol="kip-966",
)
def bounced_leader_stays_in_sync(p: State, r: int) -> int:
    members, led = controller.isr(p), controller.leader(p) == r
    refusal = registration.take_for_failed(p, r)
    if refusal == APPLIED and led:
        p.decided_isr[p.controller_epoch] = members
    return refusal


@in_place_of(
    controller.takes_an_epoch,
    "fencing a broker opens no leader epoch, even if it is the leader",
    protocol="kip-966",
)
def fenced_leader_leads_on(p: State, r: int) -> bool:
    return False


@in_place_of(
    registration.register,
    "an unclean restart removes the broker from the ELR first, and fencing adds it again",
    protocol="kip-966",
)
def struck_before_it_is_fenced(p: State, r: int) -> int:
    eligible_leaders.follow_registration(p, r)
    refusal = registration.take_for_failed(p, r)
    if refusal == APPLIED:
        p.fenced &= ~(1 << r)
    return refusal


@in_place_of(
    eligible_leaders.follow_registration,
    "a broker that returns before it is fenced is treated as if it had shut down cleanly",
    protocol="kip-966",
)
def quick_return_taken_for_clean(p: State, r: int) -> None:
    if p.fenced >> r & 1:
        eligible_leaders.follow_registration(p, r)
