"""The error for wrong input: a single sentence."""


class AuditError(Exception):
    """Logs that cannot be audited; the message names the file, and says what to do."""
