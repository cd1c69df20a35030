"""Put the sources of this package on the path of a Spark worker's Python, before the worker imports them.

workers.py pickles these functions by value, so they may import only the standard library.
"""

import importlib
import io
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def run_task(where: tuple[str, bytes | None], task: str, argument: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """Run a task on a worker, and yield its batches. `task` is `module:function`, or the name of a worker.py function.

    `where` is a pair that gives the sources. Either the first element has directories (joined as in PYTHONPATH) and the
    second is None, or the first is a digest and the second a zip of the sources.
    """
    name, sources = where
    for path in reversed(name.split(os.pathsep) if sources is None else [unpack(name, sources)]):
        if path not in sys.path:
            sys.path.insert(0, path)
    module, _, function = task.rpartition(":")
    tasks = importlib.import_module(module or "epochfuzz.harness.campaign.run.worker")
    yield from getattr(tasks, function)(argument, batches)


def unpack(digest: str, sources: bytes) -> str:
    """Unpack a zip of sources once, and return its directory.

    The directory is named after the digest. Later tasks therefore find it again, and Numba finds its cached code there.
    """
    for path in sys.path:
        if Path(path).name == digest:
            return path
    base = cache_directory()
    directory = base / digest
    if not directory.is_dir():
        temporary = tempfile.mkdtemp(dir=base)
        zipfile.ZipFile(io.BytesIO(sources)).extractall(temporary)
        try:
            os.rename(temporary, directory)
        except OSError:  # another worker has created the directory first
            shutil.rmtree(temporary)
    return str(directory)


def cache_directory() -> Path:
    """Return the directory for unpacked sources: next to Numba's cache, or temporary if there is no home directory."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "epochfuzz" / "sources"
        base.mkdir(parents=True, exist_ok=True)
        base.parent.chmod(0o700)  # no other user may change code that workers execute; fails if another user owns it
    except (OSError, RuntimeError):
        base = Path(tempfile.mkdtemp(prefix="epochfuzz-"))
    return base
