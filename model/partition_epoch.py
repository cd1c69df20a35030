"""The partition epoch: it rises with every change of leader, leader epoch and ISR, and tells who knows the latest.

It is not numbered here: all that anybody asks of a partition epoch is whether it is the current one.
"""

from epochfuzz.model import alter_partition, controller, high_watermark
from epochfuzz.model.goals import Goal
from epochfuzz.model.mechanisms import IsrRefresh, tracks_partition_epoch
from epochfuzz.model.refusals import APPLIED, Refusal
from epochfuzz.model.state import State


def learn_isr(p: State, r: int) -> int:
    """The metadata log brings leader r changes of the ISR in its epoch, its own included, maybe before the answer."""
    if not tracks_partition_epoch(p) or p.isr_refresh == IsrRefresh.NONE:
        return Refusal.KNOWS_LATEST_EPOCH
    if controller.true_leader(p) != r or p.isr_current[r]:
        return Refusal.KNOWS_LATEST_EPOCH
    alter_partition.forget_proposal(p, r)
    p.isr[r] = controller.isr(p)
    p.isr_current[r] = 1
    p.goals |= Goal.ISR_LEARNED_FROM_METADATA
    high_watermark.advance_leader(p, r)
    return APPLIED
