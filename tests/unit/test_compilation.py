"""Compilation: where what is compiled is kept, and what happens where it cannot be."""

import os
import subprocess
import sys

import pytest

# Readers and writers are the same to root: refused here is what a read-only directory refuses to others.
READ_ONLY = """
import sys, tempfile

def refuse(*arguments, **options):
    raise PermissionError(13, "Permission denied", options["dir"])

tempfile.TemporaryFile = tempfile.mkstemp = tempfile.mkdtemp = refuse
from epochfuzz.harness.search import compilation
"""
STAND_IN = """
compilation._source = lambda scope, kept: (
    f"from {compilation.__name__} import {'as_kernel' if kept else 'as_kernel_not_kept as as_kernel'}\\n"
    "@as_kernel\\ndef test_kernel(x):\\n    return x + 1\\n"
)
print(compilation._program(compilation.Scope.EARLY).test_kernel(1))
"""


def run(code, cache):
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("how", ["read-only", "no directory"])
def test_what_cannot_be_kept_is_compiled_each_time_and_one_line_says_so(how, tmp_path):
    cache = tmp_path if how == "read-only" else "/proc/cache"
    code = READ_ONLY if how == "read-only" else "from epochfuzz.harness.search import compilation\n"
    ended = run(code + STAND_IN, cache)
    assert (ended.returncode, ended.stdout) == (0, "2\n"), ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert "XDG_CACHE_HOME" in ended.stderr


def test_what_can_be_kept_is(tmp_path):
    ended = run("from epochfuzz.harness.search import compilation\n" + STAND_IN, tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "2\n", "")
    assert [file.suffix for file in tmp_path.rglob("kernels*.nbi")] == [".nbi"]
