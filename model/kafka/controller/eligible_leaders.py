"""Eligible leader replicas (ELR, KIP-966): replicas that left the ISR when it became, or already was, too small.

An ISR is too small if it is smaller than min.insync.replicas. Then the high watermark does not advance, so a replica
that left the ISR still has every committed record. Such a replica may lead when the ISR is empty, unless it may have
lost records in an unclean shutdown. PartitionChangeBuilder.maybePopulateTargetElr.
"""

from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.in_force import tracks_eligible_leaders
from epochfuzz.model.kafka.vocabulary.mechanisms import EligibleLeaders
from epochfuzz.model.kafka.vocabulary.state import State


def follow_isr(p: State, before: int, after: int) -> None:
    """Update the eligible leader replicas as the ISR changes from `before` to `after`."""
    if not tracks_eligible_leaders(p):
        return
    if replica_sets.size(after) >= p.min_insync_replicas and p.eligible_leaders != EligibleLeaders.KEPT_ABOVE_MIN:
        p.elr = 0
    else:
        p.elr = (p.elr | before) & ~after


def follow_registration(p: State, r: int) -> None:
    """Remove r from the eligible leader replicas as it registers, if its shutdown was unclean.

    A broker recognises a clean shutdown by the broker epoch that it wrote to disk in that shutdown.
    """
    if tracks_eligible_leaders(p):
        if not p.clean >> r & 1 and p.eligible_leaders != EligibleLeaders.KEPT_UNCLEAN:
            p.elr &= ~(1 << r)
        p.clean &= ~(1 << r)


def note_clean_shutdown(p: State, r: int) -> None:
    """Note that r has written its broker epoch to disk, as the last step of a clean shutdown."""
    if tracks_eligible_leaders(p):
        p.clean |= 1 << r
