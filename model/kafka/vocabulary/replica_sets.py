"""Sets of replicas, such as an ISR: bit r for replica r."""

from epochfuzz.model.kafka.vocabulary.in_force import requests_isr_changes
from epochfuzz.model.kafka.vocabulary.state import State


def size(replica_set: int) -> int:
    """Return the number of replicas in a set (bit r for replica r)."""
    count = 0
    while replica_set:
        replica_set &= replica_set - 1  # clears the lowest bit that is set
        count += 1
    return count


def maximal_isr(p: State, leader: int) -> int:
    """Return the union of the leader's ISR and its proposed ISR.

    The controller may have made the proposed change already (KIP-497).
    """
    return p.isr[leader] | p.pending_isr[leader] if requests_isr_changes(p) else p.isr[leader]
