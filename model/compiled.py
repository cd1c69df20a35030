"""The rules, made callable from Numba-compiled code.

The rules stay plain Python functions; nothing in their modules knows of Numba. Registering them lets a compiled
function call them, and Numba then compiles each for a RECORD and inlines it into its caller.
"""

from types import FunctionType, ModuleType

from numba.extending import register_jitable

from model import (
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


def _register_rules() -> None:
    for module in RULE_MODULES:
        for function in vars(module).values():
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                register_jitable(function)


# Once, at import: registering a function twice would compile it twice.
_register_rules()
