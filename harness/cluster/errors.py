"""The errors of a cluster."""


class ClusterError(Exception):
    """A cluster cannot start or has broken down. The message says why, and what to do."""


class NotReached(Exception):
    """A step did not happen within its time limit. The message names the condition that was not reached."""
