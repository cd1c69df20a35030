"""Mutants of KIP-966: the set of eligible leader replicas, and the condition that holds the high watermark back."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.controller import eligible_leaders
from epochfuzz.model.kafka.partition import high_watermark
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.state import NONE, State


@in_place_of(
    eligible_leaders.follow_isr,
    "eligible leader replicas stay until the ISR has more than min.insync.replicas",
    protocol="kip-966",
)
def eligible_at_the_minimum(p: State, before: int, after: int) -> None:
    if replica_sets.size(after) > p.min_insync_replicas:
        p.elr = 0
    else:
        p.elr = (p.elr | before) & ~after


@in_place_of(
    eligible_leaders.follow_isr,
    "while the ISR is below min.insync.replicas, all replicas outside it are eligible leader replicas",
    protocol="kip-966",
)
def eligible_whenever_they_left(p: State, before: int, after: int) -> None:
    if replica_sets.size(after) >= p.min_insync_replicas:
        p.elr = 0
    else:
        p.elr = ((1 << p.replicas) - 1) & ~after


@in_place_of(
    high_watermark.is_held,
    "the high watermark waits for min.insync.replicas fetching replicas, in the ISR or not",
    protocol="kip-966",
)
def gate_counts_those_that_fetch(p: State, leader: int) -> bool:
    fetching = 1
    for follower in range(p.replicas):
        if follower != leader and p.remote_leos[leader, follower] != NONE:
            fetching += 1
    return fetching < p.min_insync_replicas


@in_place_of(
    high_watermark.is_held,
    "the high watermark waits for one ISR member fewer than min.insync.replicas",
    protocol="kip-966",
)
def gate_opens_below_the_minimum(p: State, leader: int) -> bool:
    return replica_sets.size(p.isr[leader]) + 1 < p.min_insync_replicas
