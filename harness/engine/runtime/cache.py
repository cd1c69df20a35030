"""The cache of this user: a directory for compiled code and downloads, which nobody else may change."""

import os
from pathlib import Path


def user_cache() -> Path:
    """Return the cache directory, and create it. Raises OSError and, for a user without a home, RuntimeError.

    The cache holds code that later runs execute, so only its owner may enter it, whatever the umask is.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "epochfuzz"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    if cache.stat().st_mode & 0o077:
        cache.chmod(0o700)  # fails if the directory is another user's
    return cache
