"""The error for wrong input: a single sentence."""


class AuditError(Exception):
    """Logs or disks cannot be audited. The message says what is wrong, and what to do."""
