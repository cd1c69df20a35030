"""The error of an audit for wrong input, and the descriptions of other errors. Each of them is a single sentence."""


class AuditError(Exception):
    """Logs or disks cannot be audited. The message states the problem and the remedy."""


def reason(error: Exception) -> str:
    """Return a short description of an error."""
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"{said} (run audit as a user who may read it)" if isinstance(error, PermissionError) else said
