"""The code of an event: its verb and its replica in one byte."""

MAX_REPLICAS = 5

# The low three bits of an event are its replica, and the other five bits are its verb. Five bits suffice for the first
# 32 verbs. There are five replicas at most, so each of these verbs has three free codes, with the replicas 5, 6 and 7.
# The verbs from 32 on have these 96 free codes, in order of verb and replica.
_FIRST_VERBS = 32
_FREE_CODES = 3


def encode(verb: int, replica: int) -> int:
    """Return the event byte for a verb and a replica (0 is A)."""
    if verb < _FIRST_VERBS:
        return verb << 3 | replica
    code = (verb - _FIRST_VERBS) * MAX_REPLICAS + replica
    return code // _FREE_CODES << 3 | MAX_REPLICAS + code % _FREE_CODES


def verb_number(event: int) -> int:
    """Return the number of the verb in an event byte."""
    verb, replica = _high_bits(event), event & 7
    if replica < MAX_REPLICAS:
        return verb
    return _FIRST_VERBS + (verb * _FREE_CODES + replica - MAX_REPLICAS) // MAX_REPLICAS


def replica_of(event: int) -> int:
    """Return the number of the replica in an event byte (0 is A)."""
    replica = event & 7
    if replica < MAX_REPLICAS:
        return replica
    return (_high_bits(event) * _FREE_CODES + replica - MAX_REPLICAS) % MAX_REPLICAS


def _high_bits(event: int) -> int:
    return (event & ~7) >> 3  # masked first, because Numba shifts an unsigned byte to an unsigned number
