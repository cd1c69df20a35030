"""Bootstrap: how a Python worker of Spark finds this package before it needs anything of it.

These functions are pickled by value (workers.py sees to it), so they may import the standard library alone.
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
    """Run a task: a function of epochfuzz.harness.campaign.spark.worker, or of another module as in `module:function`.

    `where` is directories of sources, joined as in PYTHONPATH, or a digest and the zip that has it.
    """
    name, sources = where
    for path in reversed(name.split(os.pathsep) if sources is None else [unpack(name, sources)]):
        if path not in sys.path:
            sys.path.insert(0, path)
    module, _, function = task.rpartition(":")
    tasks = importlib.import_module(module or "epochfuzz.harness.campaign.spark.worker")
    yield from getattr(tasks, function)(argument, batches)


def unpack(digest: str, sources: bytes) -> str:
    """Return the directory of the unpacked sources.

    Named by their digest, it is found again, and so is what Numba cached.
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
        except OSError:  # another worker was faster
            shutil.rmtree(temporary)
    return str(directory)


def cache_directory() -> Path:
    """Where sources are unpacked: beside the compiled code, or where executors have no home, somewhere temporary."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "epochfuzz" / "sources"
        base.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        base = Path(tempfile.mkdtemp(prefix="epochfuzz-"))
    return base
