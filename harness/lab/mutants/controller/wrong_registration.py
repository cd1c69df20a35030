"""Mutants of registration and fencing (KIP-380, KRaft): a broker leaves the ISR too late, or returns early."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.broker import registration
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import State


@in_place_of(
    registration.take_for_failed,
    "a follower that is back before its session expires stays in the ISR",
    jira="KAFKA-7235",
    protocol="kip-966:leaderless=ignored",
)
def bounced_follower_stays_in_sync(p: State, r: int) -> int:
    return registration.take_for_failed(p, r) if controller.leader(p) == r else APPLIED


@in_place_of(
    registration.take_for_failed,
    "a leader that is back before its session expires loses leadership, but stays in the ISR",
    jira="KAFKA-7235",
    protocol="kip-966:leaderless=ignored",
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
    "the controller registers a new process while the session of the former one is valid",
    protocol="kip-966",
)
def registered_beside_a_valid_session(p: State, r: int) -> int:
    refusal = registration.register(p, r)
    if refusal == Refusal.SESSION_IS_VALID:
        registration.take_in(p, r)
        return APPLIED
    return refusal


@in_place_of(
    registration.register,
    "the controller registers a new process unfenced",
    protocol="kip-966",
)
def registered_unfenced(p: State, r: int) -> int:
    refusal = registration.register(p, r)
    if refusal == APPLIED:
        p.fenced &= ~(1 << r)
    return refusal


@in_place_of(
    registration.unfence,
    "the controller unfences a broker that has not read the metadata log up to its registration",
    protocol="kip-966",
)
def unfenced_before_it_has_caught_up(p: State, r: int) -> int:
    refusal = registration.unfence(p, r)
    if refusal == Refusal.IS_CATCHING_UP:
        p.fenced &= ~(1 << r)
        return APPLIED
    return refusal
