"""The error of an audit for wrong input. Its message is a single sentence."""


class AuditError(Exception):
    """Logs or disks cannot be audited. The message states the problem and the remedy."""
