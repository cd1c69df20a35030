"""Mutants of a leader that learns an ISR change within its own leader epoch from the metadata log (KRaft)."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.partition import alter_partition, high_watermark, partition_epoch
from epochfuzz.model.kafka.vocabulary.mechanisms import IsrRefresh
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import Alter, State


@in_place_of(
    partition_epoch.learn_isr,
    "a leader that learns the ISR still waits for the response to its proposal",
    protocol="kip-966",
)
def news_ends_no_proposal(p: State, r: int) -> int:
    if p.isr_refresh == IsrRefresh.NONE or controller.true_leader(p) != r or p.isr_current[r]:
        return Refusal.KNOWS_LATEST_EPOCH
    p.isr[r] = controller.isr(p)
    p.isr_current[r] = 1
    high_watermark.advance_leader(p, r)
    return APPLIED


@in_place_of(
    partition_epoch.learn_isr,
    "a leader that learns of a smaller ISR does not advance its high watermark",
    protocol="kip-966",
)
def news_raises_no_high_watermark(p: State, r: int) -> int:
    if p.isr_refresh == IsrRefresh.NONE or controller.true_leader(p) != r or p.isr_current[r]:
        return Refusal.KNOWS_LATEST_EPOCH
    alter_partition.forget_proposal(p, r)
    p.isr[r] = controller.isr(p)
    p.isr_current[r] = 1
    return APPLIED


@in_place_of(
    partition_epoch.learn_isr,
    "a leader that learns its request's partition epoch before the response keeps using the old ISR",
    protocol="kip-966",
)
def news_overtakes_the_answer(p: State, r: int) -> int:
    members = p.isr[r]
    refusal = partition_epoch.learn_isr(p, r)
    if refusal == APPLIED and p.alter[r] == Alter.APPLIED:
        p.isr[r] = members
    return refusal
