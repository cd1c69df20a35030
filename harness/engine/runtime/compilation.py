"""Compilation: Numba kernels over the model's rules, kept on disk between runs.

A kernel is written as a plain function. All of them, and the rules that they call, are linked into one file of flat
code (model/core/program.py), which lies with what Numba makes of it under a digest of every source that it came from:
Numba's own cache looks only at the file of the function that it compiles, and would keep a kernel after a rule
elsewhere changed.
"""

import ast
import hashlib
import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numba
from numba.extending import register_jitable

from epochfuzz import model
from epochfuzz.harness.engine.runtime.interpretation import NUMPY, interpreted
from epochfuzz.model.core import program
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.in_force import requests_isr_changes
from epochfuzz.model.kafka.vocabulary.protocols import NAMED
from epochfuzz.model.kafka.vocabulary.state import Partition

_Function = TypeVar("_Function", bound=Callable[..., Any])

_BROKEN_SET = "epochfuzz.harness.defects"  # which plants all of its defects

_ENGINE = __package__.rpartition(".")[0]

# The modules of the engine that have kernels and parts of them.
_MODULES = (
    "coverage.coverage",
    "coverage.situations",
    "explore.expansion",
    "explore.tours",
    "explore.visited",
    "keys.packing",
    "keys.symmetry",
    "runtime.compilation",
    "walk.generate",
    "walk.hunt",
    "walk.walk",
)

# Rules that are called and not inlined. Of the events that are tried most are not enabled, and to find that out takes
# less than a call does; but what is rare and long would only take longer to compile.
_CALLED_MODULES = (
    "consumer",
    "epoch_cache",
    "healing",
    "ideal_log",
    "idempotence",
    "processes",
    "producer",
    "producer_window",
    "truncation",
    "waiting",
)
_CALLED = ("learn", "remember_readable")

_IS_OFF = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]

# Settings whose rules are left out of the program that needs them not.
_SELDOM = ("follower_reads", "retries", "consumer", "transactions", "controllers")

# The package, in which model, harness and strategies may be links to where they really are.
_PACKAGE = Path(model.__file__).parents[1]

_kernels: list[Callable[..., Any]] = []


def kernel(function: _Function) -> _Function:
    """Mark a function that is called from Python: `compiled` has it as machine code."""
    _kernels.append(function)
    return function


def compiled(function: Callable[..., Any], starts: Iterable[Partition] = ()) -> Any:
    """A kernel as machine code, or as Python where Numba is switched off, for all that follows from some states."""
    made = getattr(_program(_scope_of(list(starts))), program.flat_name(function))
    return interpreted(made) if _IS_OFF else made


class Scope(Enum):
    """For which states a program is made: what is constant under all of them is worked out as it is linked.

    So what came with KIP-497 or later, and what clients do who are modelled only where they are asked for, costs
    nothing where there is none of it. Protocols of the broken set need the rules with their defects in them.
    """

    EARLY = "kernels"
    ALL = "kernels_of_all_releases"
    WITH_DEFECTS = "kernels_with_defects"


def _scope_of(starts: Sequence[Partition]) -> Scope:
    if any(p.defect for p in starts):
        return Scope.WITH_DEFECTS
    is_early = all(getattr(p, name) == number for p in starts for name, number in _early().items())
    return Scope.EARLY if is_early else Scope.ALL


@cache
def _early() -> Mapping[str, int]:
    """What all protocols that change the ISR at once have in common, and the settings that are seldom asked for."""
    choices = [each.numbers() for each in NAMED.values() if not requests_isr_changes(each.constants)]
    common = {name: number for name, number in choices[0].items() if all(each[name] == number for each in choices)}
    return common | {name: Configuration().numbers()[name] for name in _SELDOM}


def is_compiled(name: str) -> bool:
    """Whether an earlier run has compiled the kernel of a flat name, and its machine code was kept."""
    directory = cache_directory()
    return directory is not None and any(directory.rglob(f"kernels.{name}-*.nbc"))


def model_digest() -> str:
    """Sixteen hexadecimal digits for the sources of the model and of the kernels: the version of the rules."""
    return _digest(_sources_in(Path(model.__file__).parent) + _kernel_sources())


@cache
def cache_directory() -> Path | None:
    """Where compiled kernels are kept, under the digest of their sources; None where nothing can be, which is said."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        directory = base / "epochfuzz" / model_digest()
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):  # a directory may be there that nobody can write to
            return directory
    except (OSError, RuntimeError) as error:  # nowhere to write, or a user without a home
        print(
            f"epochfuzz: what is compiled cannot be kept ({error}), and is compiled each time;"
            " XDG_CACHE_HOME names a directory for it",
            file=sys.stderr,
        )
        return None


def _kernel_sources() -> list[Path]:
    return [Path(__file__).parents[1] / f"{name.replace('.', '/')}.py" for name in _MODULES]


def _sources_in(package: Path) -> list[Path]:
    return sorted(package.rglob("*.py"))


def _digest(sources: Iterable[Path]) -> str:
    """Of what sources say and where they stand: a rule that is moved has another name in the program."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sources:
        digest.update(str(source.relative_to(_PACKAGE)).encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _program(scope: Scope) -> ModuleType:
    """The module of all kernels, written unless an earlier run has; or not written at all where it cannot be kept."""
    directory = cache_directory()
    if directory is None or _IS_OFF:
        module = ModuleType("epochfuzz_kernels")
        exec(_source(scope, kept=False), module.__dict__)
        if _IS_OFF:
            module.np = NUMPY  # type: ignore[attr-defined]
            print("epochfuzz: NUMBA_DISABLE_JIT is set: nothing is compiled, and takes long", file=sys.stderr)
        return module
    numba.config.CACHE_DIR = str(directory)  # type: ignore[attr-defined]
    name = scope.value
    if scope is Scope.WITH_DEFECTS:
        name += f"_{_digest(_sources_in(Path(__file__).parents[2] / 'defects'))}"
    file = directory / f"{name}.py"
    if not file.exists():
        _write(file, _source(scope, kept=True))
    name = f"epochfuzz_{model_digest()}_{name}"  # Numba looks for what it has cached by the name of the module
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def _write(file: Path, text: str) -> None:
    """Write a file whole: another process may look for it at the same time."""
    handle, temporary = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.replace(temporary, file)


def _source(scope: Scope, kept: bool) -> str:
    """The text of the module: each function with how it is compiled, and whether Numba is to keep what it makes."""
    for name in _MODULES:
        importlib.import_module(f"{_ENGINE}.{name}")
    with_defects = scope is Scope.WITH_DEFECTS
    if with_defects:
        importlib.import_module(_BROKEN_SET)
    parts = [
        '"""Written by epochfuzz: the rules of the model and the kernels that run them, to be compiled by Numba."""',
        "import numpy as np",
        f"from {__name__} import as_called, as_inlined, {'as_kernel' if kept else 'as_kernel_not_kept as as_kernel'}",
    ]
    constants = _early() if scope is Scope.EARLY else {}
    kernels = sorted(_kernels, key=program.flat_name)  # and not as modules happened to be imported
    for linked in program.link(kernels, constants, with_defects=with_defects):
        parts.append(f"@{_compiled_as(linked, with_defects)}\n{ast.unparse(linked.node)}")
    return "\n\n".join(parts) + "\n"


def _compiled_as(linked: program.Linked, with_defects: bool) -> str:
    function = linked.origin
    if function in _kernels and linked.name == program.flat_name(function):
        return "as_kernel"
    package, _, module = function.__module__.rpartition(".")
    is_rare = module in _CALLED_MODULES or function.__name__ in _CALLED
    is_rule = not package.startswith(_ENGINE)
    if is_rule and (is_rare or with_defects):  # with all defects in them, rules are long
        return "as_called"
    return "as_inlined"


# How the functions of the module are compiled.
as_kernel = numba.njit(cache=True, nogil=True, error_model="numpy")
as_kernel_not_kept = numba.njit(nogil=True, error_model="numpy")
as_inlined = register_jitable(forceinline=True, no_cfunc_wrapper=True)
as_called = register_jitable(forceinline=False, no_cfunc_wrapper=True)
