"""What can go wrong with a cluster."""


class ClusterError(Exception):
    """A cluster cannot be had or has broken down; the message says why, and what to do."""


class NotReached(Exception):
    """A step waited for what did not come within its bound: this cluster does not do that here."""
