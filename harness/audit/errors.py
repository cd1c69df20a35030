"""What can be wrong with the logs that somebody names, said in a sentence."""


class AuditError(Exception):
    """Logs that cannot be audited; the message names the file, and says what to do."""
