"""Eligible leader replicas (ELR, KIP-966): replicas outside the ISR that still have every committed record.

While the ISR is smaller than min.insync.replicas, the high watermark does not advance. So a replica that leaves an ISR
of at most min.insync.replicas members has every committed record, until the ISR has min.insync.replicas members again.
Such a replica may lead when the ISR is empty. After an unclean shutdown the replica is no longer eligible, because it
may have lost records (PartitionChangeBuilder.maybePopulateTargetElr).
"""

from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.in_force import tracks_eligible_leaders
from epochfuzz.model.kafka.vocabulary.mechanisms import EligibleLeaders
from epochfuzz.model.kafka.vocabulary.state import State


def follow_isr(p: State, before: int, after: int) -> None:
    """Update the eligible leader replicas when the ISR changes from `before` to `after`."""
    if not tracks_eligible_leaders(p):
        return
    if replica_sets.size(after) >= p.min_insync_replicas and p.eligible_leaders != EligibleLeaders.KEPT_ABOVE_MIN:
        p.elr = 0
    else:
        p.elr = (p.elr | before) & ~after


def follow_registration(p: State, r: int) -> None:
    """Remove r from the eligible leader replicas when r registers after an unclean shutdown.

    A broker that shuts down cleanly writes its broker epoch to disk, and sends this broker epoch when it registers.
    """
    if tracks_eligible_leaders(p):
        if not p.clean >> r & 1 and p.eligible_leaders != EligibleLeaders.KEPT_UNCLEAN:
            p.elr &= ~(1 << r)
        p.clean &= ~(1 << r)


def note_clean_shutdown(p: State, r: int) -> None:
    """Note that r has shut down cleanly, so that r's broker epoch is on its disk."""
    if tracks_eligible_leaders(p):
        p.clean |= 1 << r
