"""The partition epoch: a number that rises with every change of the leader, the leader epoch or the ISR.

The model does not store this number. The model stores only whether a leader or a request has the current partition
epoch.
"""

from epochfuzz.model.kafka.controller import controller, leader_metadata
from epochfuzz.model.kafka.partition import alter_partition, high_watermark
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import reads_isr_twice, tracks_partition_epoch
from epochfuzz.model.kafka.vocabulary.mechanisms import IsrRefresh
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import State


def learn_isr(p: State, r: int) -> int:
    """Let leader r learn changes within its leader epoch from the metadata log. Returns APPLIED, or a Refusal.

    A change is a new ISR, or a broker that was fenced or registered again. r may have requested the new ISR itself, and
    may still wait for the response.
    """
    if not tracks_partition_epoch(p) or p.isr_refresh == IsrRefresh.NONE or controller.true_leader(p) != r:
        return Refusal.KNOWS_LATEST_EPOCH
    if p.isr_current[r] and not leader_metadata.are_news(p, r):
        return Refusal.KNOWS_LATEST_EPOCH
    reads_again = reads_isr_twice(p) and p.unread_isr[r] != 0
    leader_metadata.learn(p, r)
    if reads_again:
        high_watermark.advance_leader(p, r)
    if not p.isr_current[r]:
        note_leaving(p, r, p.isr[r] & ~controller.isr(p))
        alter_partition.forget_proposal(p, r)
        p.isr[r] = controller.isr(p)
        p.isr_current[r] = 1
        p.goals |= Goal.ISR_LEARNED_FROM_METADATA
        high_watermark.advance_leader(p, r)
    return APPLIED


def note_leaving(p: State, leader: int, leaving: int) -> None:
    """Mark the replicas in `leaving`, which left the ISR, as possibly caught up.

    The function skips a replica if the leader itself has proposed to remove it, because such a replica lagged.
    """
    if p.lag_time:
        return
    if p.pending_isr[leader] != 0:
        leaving &= p.pending_isr[leader]
    p.caught_up[leader] = (p.caught_up[leader] | leaving) & ~controller.isr(p)
