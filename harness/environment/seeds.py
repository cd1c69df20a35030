"""Random seeds, for runs without a given seed."""

import secrets

_BITS = 32


def random_seed() -> int:
    """Return a random seed of 32 bits."""
    return secrets.randbits(_BITS)
