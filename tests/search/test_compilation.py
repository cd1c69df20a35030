"""Compilation: the cache of compiled code, and runs without a writable cache."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from epochfuzz.harness.cli.warming import WARMED
from epochfuzz.harness.engine.explore.expansion import expand
from epochfuzz.harness.engine.walk.walk import walk_block
from epochfuzz.model.core import specializer

ROOT = Path(__file__).parents[2]

# root may write to a read-only directory. So this script raises the errors that other users get there.
READ_ONLY = """
import sys, tempfile

def refuse(*arguments, **options):
    raise PermissionError(13, "Permission denied", options["dir"])

tempfile.TemporaryFile = tempfile.mkstemp = tempfile.mkdtemp = refuse
from epochfuzz.harness.engine.runtime import compilation
"""
STAND_IN = """
compilation._source = lambda model, what, kept: (
    f"from {compilation.__name__} import {'as_kernel' if kept else 'as_kernel_not_kept as as_kernel'}\\n"
    "@as_kernel\\ndef test_kernel(x):\\n    return x + 1\\n"
)
print(compilation._program(None, compilation.Specialization("kernels", {})).test_kernel(1))
"""


def run(code, cache):
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["read-only", "no directory"])
def test_code_is_compiled_each_time_with_a_warning_if_the_cache_is_not_writable(how, tmp_path):
    cache = tmp_path if how == "read-only" else "/proc/cache"
    code = READ_ONLY if how == "read-only" else "from epochfuzz.harness.engine.runtime import compilation\n"
    ended = run(code + STAND_IN, cache)
    assert (ended.returncode, ended.stdout) == (0, "2\n"), ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert "XDG_CACHE_HOME" in ended.stderr


def test_compiled_code_is_cached_if_the_cache_is_writable(tmp_path):
    ended = run("from epochfuzz.harness.engine.runtime import compilation\n" + STAND_IN, tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "2\n", "")
    assert [file.suffix for file in tmp_path.rglob("kernels*.nbi")] == [".nbi"]


@pytest.mark.thorough
@pytest.mark.parametrize("was_there", [False, True])
def test_only_the_owner_can_access_the_cache_under_any_umask(was_there, tmp_path):
    cache = tmp_path / "epochfuzz"
    if was_there:
        cache.mkdir()
        cache.chmod(0o777)
    before = os.umask(0)
    try:
        ended = run("from epochfuzz.harness.engine.runtime import compilation\n" + STAND_IN, tmp_path)
    finally:
        os.umask(before)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "2\n", "")
    assert cache.stat().st_mode & 0o777 == 0o700


LINKED = """
import json
from epochfuzz.harness.environment.version import model_digest
from epochfuzz.model.core import specializer
from epochfuzz.model.kafka.step import step
print(json.dumps([model_digest(), [each.name for each in specializer.specialize([step])]]))
"""


def digest_and_names(copy):
    """Return the digest of the rules in a copy of the project, and the names of its linked rules."""
    environment = os.environ | {"PYTHONPATH": str(copy / "src")}
    printed = subprocess.run(
        [sys.executable, "-c", LINKED], env=environment, stdout=subprocess.PIPE, text=True, timeout=300, check=True
    )
    digest, names = json.loads(printed.stdout)
    return digest, set(names)


@pytest.mark.thorough
def test_moving_or_editing_a_rule_changes_the_digest_of_the_model(tmp_path):
    for folder in ("model", "harness", "strategies", "src"):
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    digest, names = digest_and_names(tmp_path)
    folder = tmp_path / "model" / "kafka" / "more"
    folder.mkdir()
    (folder / "__init__.py").touch()
    left = tmp_path / "model" / "kafka" / "storage" / "idempotence.py"
    left.rename(folder / "idempotence.py")
    # Importers still find the module at its former place.
    left.write_text("from epochfuzz.model.kafka.more.idempotence import *\n")
    moved, names_then = digest_and_names(tmp_path)
    assert moved != digest
    as_before = {name.replace("model_kafka_more_", "model_kafka_storage_") for name in names_then}
    assert as_before == names != names_then
    with (folder / "idempotence.py").open("a") as rules:
        rules.write("\n# And one more line.\n")
    assert digest_and_names(tmp_path)[0] != moved


def test_the_warmed_kernels_are_expand_and_walk_block():
    assert {kernel for _, kernel in WARMED.values()} == {
        specializer.flat_name(kernel) for kernel in (expand, walk_block)
    }
