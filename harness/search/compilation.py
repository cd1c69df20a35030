"""Compilation: Numba kernels over the model's rules, kept on disk between runs.

Numba's own cache looks only at the file of the function that it compiles, and would keep a kernel after a rule in
another file changed. So the cache is kept under a digest of every source that a kernel can reach.
"""

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.extending import register_jitable

from epochfuzz import model
from epochfuzz.model import compiled as compiled  # registers the rules

_SOURCES = (Path(model.__file__).parent, Path(__file__).parent)


def model_digest() -> str:
    """Sixteen hexadecimal digits for the sources of the model and of the kernels: the version of the rules."""
    digest = hashlib.sha256(numba.__version__.encode())
    for directory in _SOURCES:
        for source in sorted(directory.glob("*.py")):
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_directory() -> Path:
    """Where compiled kernels are kept, under the digest of their sources."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        directory = base / "epochfuzz" / model_digest()
        directory.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # nowhere to write, or a user without a home
        return Path(tempfile.mkdtemp(prefix="epochfuzz-"))
    return directory


numba.config.CACHE_DIR = str(cache_directory())  # type: ignore[attr-defined]

# What Python calls is a kernel.
kernel = njit(cache=True, nogil=True, error_model="numpy")


def part(function: Any) -> Any:
    """What only kernels call is a part, inlined into each of them and not compiled for itself."""
    return register_jitable(forceinline=True)(function)
