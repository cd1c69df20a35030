"""Run kernels as plain Python if NUMBA_DISABLE_JIT is set, for example to debug them.

Kernels are the functions that Numba usually compiles. Numba computes with 64 bits, even if the elements of an array
have fewer bits. NumPy computes with the bits of the array's type, and wraps or rejects values that do not fit. So the
arrays in this module return Python ints, which have no limit. When an array stores a number, it truncates the number to
the bits of the array's type.
"""

import functools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np


class _Wide:
    """A wrapper of a NumPy array or record that returns its elements as Python ints.

    Slices and the fields of a record are views on the wrapped array, as in NumPy.
    """

    __slots__ = ("_of",)
    _of: Any

    def __init__(self, of: Any) -> None:
        object.__setattr__(self, "_of", of)

    def __getitem__(self, index: Any) -> Any:
        return _widened(self._of[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._of[index] = _stored(_raw(value), self._of.dtype)

    def __getattr__(self, name: str) -> Any:
        return _widened(self._of[name] if isinstance(self._of, np.void) else getattr(self._of, name))

    def __setattr__(self, name: str, value: Any) -> None:
        self._of[name] = _stored(_raw(value), self._of.dtype[name])

    def __iter__(self) -> Iterator[Any]:
        return map(_widened, self._of)

    def __len__(self) -> int:
        return len(self._of)

    def copy(self) -> "_Wide":
        """Return a copy that shares no memory with this array."""
        return _Wide(self._of.copy())


def _widened(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.void):
        return _Wide(value)
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    return tuple(map(_widened, value)) if isinstance(value, tuple) else value


def _raw(value: Any) -> Any:
    return value._of if isinstance(value, _Wide) else value


def _stored(value: Any, of: "np.dtype[Any]") -> Any:
    """Truncate a number to the bits of an array's integer type, as Numba does when it stores a number in an array."""
    if not isinstance(value, int) or of.kind not in "iu":
        return value
    bits = 8 * of.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if of.kind == "i" and value >> bits - 1 else value


def _made(make: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(make)
    def made(*arguments: Any) -> Any:
        return _Wide(make(*arguments))

    return made


# The module that kernels use as `np`. Conversions such as np.uint64 return NumPy's integers, which compute modulo 2^64.
NUMPY = SimpleNamespace(
    **{name: getattr(np, name) for name in ("uint64", "int64", "uint32", "int32", "uint8", "int8", "bool")}
)
NUMPY.empty, NUMPY.zeros, NUMPY.arange = _made(np.empty), _made(np.zeros), _made(np.arange)


def interpreted(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs a kernel in Python, with the arguments of the compiled kernel."""

    @functools.wraps(kernel)
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return kernel(*(_wide_arrays(each) for each in arguments))

    return run


def _wide_arrays(argument: Any) -> Any:
    """Wrap the arrays in an argument as _Wide. Other arguments stay as they are.

    So a seed stays a NumPy integer, which computes modulo 2^64.
    """
    if isinstance(argument, np.ndarray):
        return _Wide(argument)
    return tuple(map(_wide_arrays, argument)) if isinstance(argument, tuple) else argument
