"""The user's cache directory for compiled code and downloads. Other users cannot change it."""

import os
from pathlib import Path


def user_cache() -> Path:
    """Create and return the cache directory.

    Later runs execute code from the directory. So the function lets only the owner enter the directory, whatever the
    umask is. Raises OSError. Raises RuntimeError if the user has no home directory.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "epochfuzz"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    if cache.stat().st_mode & 0o077:
        cache.chmod(0o700)  # fails if the directory is another user's
    return cache
