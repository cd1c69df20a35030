"""The user's cache directory for compiled code and downloads. Nobody else can change it."""

import os
from pathlib import Path


def user_cache() -> Path:
    """Create and return the cache directory.

    Later runs execute code from it, so only its owner may enter it, whatever the umask is. Raises OSError, and
    RuntimeError for a user without a home directory.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "epochfuzz"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    if cache.stat().st_mode & 0o077:
        cache.chmod(0o700)  # fails if the directory is another user's
    return cache
