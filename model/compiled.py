"""The rules, made callable from Numba-compiled code.

The rules stay plain Python functions; nothing in their modules knows of Numba. Registering them lets a compiled
function call them, and Numba then compiles each for a RECORD and inlines it into its caller.
"""

import inspect
from types import FunctionType

from numba.extending import register_jitable

from model import (
    controller,
    epoch_cache,
    events,
    faults,
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

RULE_MODULES = (
    controller,
    epoch_cache,
    events,
    faults,
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


def register_rules() -> None:
    """Make every rule callable from compiled code. Idempotent."""
    for module in RULE_MODULES:
        for function in vars(module).values():
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                register_jitable(function)
