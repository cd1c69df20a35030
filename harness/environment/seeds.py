"""The seeds of runs whose user gives none."""

import secrets

_BITS = 32


def random_seed() -> int:
    """Return a random seed."""
    return secrets.randbits(_BITS)
