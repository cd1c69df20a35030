"""Compile kernels and the model's rules with Numba, and keep the machine code on disk between runs.

A kernel is a function that Python calls and Numba compiles. Kernels and the rules that they call are copied into one
generated file of flat code, with numbers in place of constants (model/core/specializer.py). This file and Numba's
machine code are in a directory named by a digest of all their sources. Numba's own cache would not be enough: it checks
only the file of the function that it compiles, and misses a change to a rule in another file. Kernels that run no model
have a file of their own.
"""

import ast
import hashlib
import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numba
from numba.extending import register_jitable

from epochfuzz.harness.engine.runtime.cache import user_cache
from epochfuzz.harness.engine.runtime.numba_disabled import NUMPY, interpreted
from epochfuzz.model import core
from epochfuzz.model.core import specializer
from epochfuzz.model.core.fields import Interpreted
from epochfuzz.model.core.model import Model, Specialization

_Function = TypeVar("_Function", bound=Callable[..., Any])

_ENGINE = __package__.rpartition(".")[0]

# The modules of the engine that contain kernels and parts of kernels.
_MODULES = (
    "coverage.coverage",
    "explore.expansion",
    "explore.parts",
    "explore.shards",
    "explore.tours",
    "explore.visited",
    "keys.packing",
    "keys.symmetry",
    "runtime.compilation",
    "walk.choose",
    "walk.generate",
    "walk.hunt",
    "walk.walk",
)

_ALLOCATING = ("room",)  # the parts of kernels that allocate arrays

_IS_OFF = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]

# The package. Its folders model, harness and strategies may be links.
_PACKAGE = Path(core.__file__).parents[2]
_SOURCES = [Path(__file__).parents[1] / f"{name.replace('.', '/')}.py" for name in _MODULES]

_OF_NO_MODEL = Specialization("kernels", {})

_kernels: list[Callable[..., Any]] = []
_kernels_of_models: list[Callable[..., Any]] = []
_programs: dict[tuple[Model | None, str], ModuleType] = {}


def kernel(function: _Function) -> _Function:
    """Mark a function as a kernel (a function to compile) that runs no model. `compiled` returns its machine code."""
    _kernels.append(function)
    return function


def kernel_of_model(function: _Function) -> _Function:
    """Mark a function as a kernel (a function to compile) that runs the rules of a model. See `compiled_for`."""
    _kernels_of_models.append(function)
    return function


def compiled(function: Callable[..., Any]) -> Any:
    """Return the compiled form of a kernel that runs no model. If Numba is switched off, the result is Python code."""
    return _made(function, None, _OF_NO_MODEL)


def compiled_for(model: Model, function: Callable[..., Any], starts: Iterable[Interpreted]) -> Any:
    """Return the compiled form of a kernel that runs a model, for all states that can follow from `starts`.

    If Numba is switched off, the result is Python code.
    """
    return _made(function, model, model.linking.program(list(starts)))


def _made(function: Callable[..., Any], model: Model | None, what: Specialization) -> Any:
    if (model, what.name) not in _programs:
        _programs[model, what.name] = _program(model, what)
    made = getattr(_programs[model, what.name], specializer.flat_name(function))
    return interpreted(made) if _IS_OFF else made


def is_compiled(name: str, model: Model) -> bool:
    """Return whether a kernel's machine code is on disk. `name` is the kernel's name in the generated code."""
    directory = cache_directory(model)
    return directory is not None and any(directory.rglob(f"kernels.{name}-*.nbc"))


def digest_of(model: Model | None) -> str:
    """Return sixteen hexadecimal digits that identify the sources of a model and of the kernels.

    The digits serve as the version of the model's rules. If `model` is None, they identify the kernels alone.
    """
    own, declared = (model.linking.sources, model.linking.declared) if model is not None else ((), "")
    return _digest([*_sources_in(Path(core.__file__).parent), *own, *_SOURCES], declared)


@cache
def cache_directory(model: Model | None) -> Path | None:
    """Return the directory for compiled kernels, which is named by the digest of their sources.

    If no directory can be written, the function prints a warning on standard error and returns None.
    """
    base = _base()
    if base is None:
        return None
    directory = base / digest_of(model)
    directory.mkdir(exist_ok=True)
    return directory


@cache
def _base() -> Path | None:
    try:
        base = user_cache()
        with tempfile.TemporaryFile(dir=base):  # the directory may exist and be read-only
            return base
    except (OSError, RuntimeError) as error:  # no writable directory, or a user without a home
        print(
            f"epochfuzz: compiled code cannot be kept ({error}), so every run compiles it again;"
            " set XDG_CACHE_HOME to a writable directory",
            file=sys.stderr,
        )
        return None


def _sources_in(package: Path) -> list[Path]:
    return sorted(package.rglob("*.py"))


def _digest(sources: Iterable[Path], declared: str = "") -> str:
    """Return a digest of the contents and the paths of source files.

    The paths belong to the digest, because the generated code contains the path of a rule in the rule's name.
    """
    digest = hashlib.sha256(f"{numba.__version__}{declared}".encode())
    for source in sources:
        place = source.relative_to(_PACKAGE) if source.is_relative_to(_PACKAGE) else source.name
        digest.update(str(place).encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def _file_name(what: Specialization) -> str:
    """Return the name of the generated file of code for a set of states, without a suffix.

    If the rules contain mutants, the name contains a digest of the mutants' sources. The digest that names the
    directory does not cover these sources.
    """
    if what.defects is None:
        return what.name
    package = importlib.import_module(what.defects).__file__
    assert package is not None
    return f"{what.name}_{_digest(_sources_in(Path(package).parent))}"


def _program(model: Model | None, what: Specialization) -> ModuleType:
    """Return the generated module that contains all kernels (compiled functions) for one set of states.

    The first call writes the module's source file. If no directory can be written, or if Numba is switched off, the
    module exists in memory only.
    """
    directory = cache_directory(model)
    if directory is None or _IS_OFF:
        module = ModuleType("epochfuzz_kernels")
        exec(_source(model, what, kept=False), module.__dict__)
        if _IS_OFF:
            module.np = NUMPY  # type: ignore[attr-defined]
            _say_that_nothing_is_compiled()
        return module
    numba.config.CACHE_DIR = str(directory)  # type: ignore[attr-defined]
    name = _file_name(what)
    file = directory / f"{name}.py"
    if not file.exists():
        _write(file, _source(model, what, kept=True))
    name = f"epochfuzz_{directory.name}_{name}"  # Numba finds its cached machine code by the name of the module
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@cache
def _say_that_nothing_is_compiled() -> None:
    print("epochfuzz: NUMBA_DISABLE_JIT is set, so nothing is compiled and runs are slow", file=sys.stderr)


def _write(file: Path, text: str) -> None:
    """Write a file in one step, because another process may read it at the same time."""
    handle, temporary = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.replace(temporary, file)


def _source(model: Model | None, what: Specialization, kept: bool) -> str:
    """Return the source code of a generated module: each function, with the decorator that compiles it.

    If `kept` is true, Numba keeps the machine code on disk.
    """
    for name in _MODULES:
        importlib.import_module(f"{_ENGINE}.{name}")
    if what.defects is not None:
        importlib.import_module(what.defects)
    parts = [
        '"""Written by epochfuzz: the rules of a model and the kernels that run them, to be compiled by Numba."""',
        "import numpy as np",
        f"from {__name__} import as_allocating, as_called, as_inlined",
        f"from {__name__} import {'as_kernel' if kept else 'as_kernel_not_kept as as_kernel'}",
    ]
    kernels = sorted(
        _kernels if model is None else _kernels_of_models, key=specializer.flat_name
    )  # not in import order
    for linked in specializer.specialize(kernels, what.constants, with_defects=what.defects is not None, model=model):
        parts.append(f"@{_compiled_as(linked, model, what)}\n{ast.unparse(linked.node)}")
    return "\n\n".join(parts) + "\n"


def _compiled_as(linked: specializer.Specialized, model: Model | None, what: Specialization) -> str:
    function = linked.origin
    if function in (*_kernels, *_kernels_of_models) and linked.name == specializer.flat_name(function):
        return "as_kernel"
    if function.__name__ in _ALLOCATING:
        return "as_allocating"
    is_rule = not function.__module__.startswith(_ENGINE)
    # Rules that contain all mutants are long, so kernels call them instead of inlining them.
    if model is not None and is_rule and (model.linking.is_called(function) or what.defects is not None):
        return "as_called"
    return "as_inlined"


# The decorators that compile the functions in a file of flat code.
as_kernel = numba.njit(cache=True, nogil=True, error_model="numpy")
as_kernel_not_kept = numba.njit(nogil=True, error_model="numpy")
#
# Numba counts references to an array in every function that takes the array as an argument. This counting took a
# quarter of the time of random runs, by two atomic instructions at each call. The kernel holds references to the
# arrays, so the kernel's parts need not count them (`_nrt=False`). But such parts cannot allocate arrays.
as_allocating = register_jitable(forceinline=True, no_cfunc_wrapper=True)
as_inlined = register_jitable(forceinline=True, no_cfunc_wrapper=True, _nrt=False)
as_called = register_jitable(forceinline=False, no_cfunc_wrapper=True, _nrt=False)
