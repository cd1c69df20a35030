"""Eligible leader replicas (ELR, KIP-966): who left the ISR when nothing could be committed without it any more.

While the ISR is smaller than min.insync.replicas the high watermark stays where it is, so whoever was in the ISR until
then has all that is committed, and may lead when the ISR is empty: unless it lost its log in an unclean shutdown.
PartitionChangeBuilder.maybePopulateTargetElr.
"""

from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.in_force import tracks_eligible_leaders
from epochfuzz.model.kafka.vocabulary.mechanisms import EligibleLeaders
from epochfuzz.model.kafka.vocabulary.state import State


def follow_isr(p: State, before: int, after: int) -> None:
    """Change the ISR."""
    if not tracks_eligible_leaders(p):
        return
    if replica_sets.size(after) >= p.min_insync_replicas and p.eligible_leaders != EligibleLeaders.KEPT_ABOVE_MIN:
        p.elr = 0
    else:
        p.elr = (p.elr | before) & ~after


def follow_registration(p: State, r: int) -> None:
    """r registers: after an unclean shutdown, which a broker tells by the epoch that it wrote down in a clean one."""
    if tracks_eligible_leaders(p):
        if not p.clean >> r & 1 and p.eligible_leaders != EligibleLeaders.KEPT_UNCLEAN:
            p.elr &= ~(1 << r)
        p.clean &= ~(1 << r)


def note_clean_shutdown(p: State, r: int) -> None:
    """r has written down its broker epoch as the last thing it did."""
    if tracks_eligible_leaders(p):
        p.clean |= 1 << r
