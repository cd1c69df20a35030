"""The exceptions of clusters."""


class ClusterError(Exception):
    """A cluster cannot start or has broken down. The message says why, and what to do."""


class NotReached(Exception):
    """A condition was not met within its time limit. The message names the condition."""
