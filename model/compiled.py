"""The rules, made callable from Numba-compiled code.

The rules stay plain Python functions; nothing in their modules knows of Numba. Registering them lets a compiled
function call them, and Numba then compiles each for a RECORD.

Most are inlined into their callers. Of the events that are tried most are not enabled, and to find that out takes less
than a call does. What is rare and long is called, for inlining it would only take longer to compile.
"""

from types import FunctionType, ModuleType

from numba.extending import register_jitable

from epochfuzz.model import (
    controller,
    epoch_cache,
    faults,
    healing,
    high_watermark,
    isr,
    leadership,
    log,
    promises,
    properties,
    replication,
    step,
    truncation,
)

RULE_MODULES: tuple[ModuleType, ...] = (
    controller,
    epoch_cache,
    faults,
    healing,
    high_watermark,
    isr,
    leadership,
    log,
    promises,
    properties,
    replication,
    step,
    truncation,
)

_CALLED_MODULES = (epoch_cache, healing, truncation)
_CALLED = (faults.crash, leadership.learn)


def _register_rules() -> None:
    for module in RULE_MODULES:
        for function in vars(module).values():
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                called = module in _CALLED_MODULES or function in _CALLED
                register_jitable(forceinline=not called)(function)


# Once, at import: registering a function twice would compile it twice.
_register_rules()
