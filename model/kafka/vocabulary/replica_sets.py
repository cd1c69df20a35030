"""Sets of replicas, such as an ISR: bit r for replica r."""

from epochfuzz.model.kafka.vocabulary.in_force import requests_isr_changes
from epochfuzz.model.kafka.vocabulary.state import State


def size(replica_set: int) -> int:
    """How many replicas a set has."""
    count = 0
    while replica_set:
        replica_set &= replica_set - 1
        count += 1
    return count


def maximal_isr(p: State, leader: int) -> int:
    """Who is in the leader's ISR, or is proposed for it: the controller may have made the change by now (KIP-497)."""
    return p.isr[leader] | p.pending_isr[leader] if requests_isr_changes(p) else p.isr[leader]
