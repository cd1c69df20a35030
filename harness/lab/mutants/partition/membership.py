"""Mutants of the ISR and of elections: a wrong replica is a member, or is elected."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.partition import isr, replication
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State


@in_place_of(isr.why_not_caught_up, "a follower joins the ISR with its first fetch, no matter how far it lags")
def isr_joined_at_once(p: State, leader: int, r: int) -> int:
    return APPLIED if p.remote_leos[leader, r] != NONE else Refusal.HAS_NOT_FETCHED


@in_place_of(
    isr.why_not_caught_up,
    "a follower joins the ISR at its leader's epoch start, though more records are committed since",
)
def isr_joined_at_epoch_start(p: State, leader: int, r: int) -> int:
    seen_at = p.remote_leos[leader, r]
    if seen_at == NONE:
        return Refusal.HAS_NOT_FETCHED
    return APPLIED if seen_at >= p.epoch_start[leader] else Refusal.BELOW_EPOCH_START


@in_place_of(
    isr.why_not_caught_up,
    "a follower joins the ISR at a high watermark that the new leader has not learned yet",
    jira="KAFKA-7128",
)
def isr_joined_at_high_watermark(p: State, leader: int, r: int) -> int:
    refusal = isr.why_not_caught_up(p, leader, r)
    return APPLIED if refusal == Refusal.BELOW_EPOCH_START else refusal


@in_place_of(isr.why_not_caught_up, "a follower joins the ISR of a leader that it has not fetched from")
def isr_joined_unseen(p: State, leader: int, r: int) -> int:
    seen_at = p.remote_leos[leader, r]
    if seen_at < p.high_watermark[leader]:
        return Refusal.BELOW_HIGH_WATERMARK
    return APPLIED if seen_at >= p.epoch_start[leader] else Refusal.BELOW_EPOCH_START


@in_place_of(isr.expand, "a leader expands the ISR though the controller has elected another leader")
def isr_expanded_by_zombie(p: State, r: int) -> int:
    leader = p.known_leader[r]
    if leader == NONE or not replication.presumes_leadership(p, leader):
        return Refusal.NO_TRUE_LEADER
    return isr.expand_by(p, leader, r)


@in_place_of(isr.shrink, "a leader shrinks the ISR though the controller has elected another leader")
def isr_shrunk_by_zombie(p: State, r: int) -> int:
    leader = NONE
    for zombie in range(p.replicas):
        if zombie != r and replication.presumes_leadership(p, zombie) and p.isr[zombie] >> r & 1:
            leader = zombie
    return isr.shrink_by(p, leader, r) if leader != NONE else Refusal.NO_TRUE_LEADER


@in_place_of(
    isr.write,
    "a leader stops waiting for a member before the controller knows that it left the ISR",
)
def isr_shrunk_before_it_is_decided(p: State, leader: int, members: int) -> None:
    grows = members & ~p.isr[leader] != 0
    if grows:
        isr.write(p, leader, members)
    else:
        p.isr[leader] = members


@in_place_of(isr.write, "a replica is in the controller's ISR before its leader waits for it")
def isr_grown_after_it_is_decided(p: State, leader: int, members: int) -> None:
    grows = members & ~p.isr[leader] != 0
    if grows:
        p.decided_isr[p.controller_epoch] |= members
    else:
        isr.write(p, leader, members)


@in_place_of(controller.elect_uncleanly, "the controller elects any live replica")
def elected_outside_isr(p: State, r: int) -> int:
    controller.decide(p, r, controller.isr(p) | 1 << r)
    return APPLIED


@in_place_of(
    controller.elect_uncleanly,
    "the controller gives leadership back to the preferred replica, in the ISR or not",
)
def preferred_replica_elected_outside_isr(p: State, r: int) -> int:
    if r != 0:
        return controller.elect_uncleanly(p, r)
    controller.decide(p, r, controller.isr(p) | 1 << r)
    return APPLIED


@in_place_of(
    controller.elect_uncleanly,
    "the controller elects outside the ISR if no member is up, though the setting forbids it",
)
def unclean_election_unasked(p: State, r: int) -> int:
    if controller.live(p, controller.isr(p)) != 0:
        return Refusal.ISR_HAS_LIVE_MEMBER
    controller.decide(p, r, 1 << r)
    p.goals |= Goal.ELECTED_UNCLEANLY
    return APPLIED


@in_place_of(controller.elect_member, "an election resets the ISR to all replicas")
def election_makes_everyone_in_sync(p: State, r: int) -> int:
    controller.decide(p, r, (1 << p.replicas) - 1)
    return APPLIED


@in_place_of(controller.elect_member, "a fail-over makes all live replicas the ISR, not only its live members")
def failover_makes_the_living_in_sync(p: State, r: int) -> int:
    fails_over = controller.leader(p) == NONE or not p.up[controller.leader(p)]
    controller.elect_member(p, r)
    if fails_over:
        p.decided_isr[p.controller_epoch] = controller.live(p, (1 << p.replicas) - 1)
    return APPLIED


@in_place_of(controller.elect_uncleanly, "after an unclean election the former members of the ISR are still in it")
def unclean_leader_keeps_the_old_isr(p: State, r: int) -> int:
    members = controller.isr(p)
    refusal = controller.elect_uncleanly(p, r)
    if refusal == APPLIED:
        p.decided_isr[p.controller_epoch] |= members
    return refusal


@in_place_of(controller.expire, "an ISR whose last member expires becomes the set of all replicas")
def empty_isr_means_everyone(p: State, r: int) -> int:
    was_alone = controller.isr(p) == 1 << r
    refusal = controller.expire(p, r)
    if refusal == APPLIED and was_alone:
        p.decided_isr[p.controller_epoch] = (1 << p.replicas) - 1
    return refusal


@in_place_of(controller.expire, "a leader whose session expires stays in the ISR")
def expired_leader_stays_in_sync(p: State, r: int) -> int:
    members, led = controller.isr(p), controller.leader(p) == r
    refusal = controller.expire(p, r)
    if refusal == APPLIED and led:
        p.decided_isr[p.controller_epoch] = members
    return refusal


@in_place_of(
    controller.elect_member,
    "an election after a leader expired does not open a new epoch",
    protocol="kip-320:leaderless=obeyed",
)
def elected_in_the_same_epoch(p: State, r: int) -> int:
    members = controller.isr(p)
    if controller.leader(p) == NONE:
        p.controller_epoch -= 1
    controller.decide(p, r, members)
    return APPLIED
