"""Sets of replicas, such as an ISR: bit r for replica r."""


def size(replica_set: int) -> int:
    """How many replicas a set has."""
    count = 0
    while replica_set:
        replica_set &= replica_set - 1
        count += 1
    return count
