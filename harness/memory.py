"""Memory: what a process had of it."""

import resource


def most_memory() -> int:
    """Return the bytes that this process had at the most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts in KiB
