"""Conformance: somebody's own implementation, run beside the model. docs/conformance.md says how to take part."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from epochfuzz.harness.conform.machine import conformance_test
    from epochfuzz.harness.conform.subject import CommandSubject, Subject
    from epochfuzz.harness.conform.wire import Config, Observation

__all__ = ["CommandSubject", "Config", "Observation", "Subject", "conformance_test"]

_HOMES = {
    "CommandSubject": "subject",
    "Config": "wire",
    "Observation": "wire",
    "Subject": "subject",
    "conformance_test": "machine",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is: workers need no Hypothesis."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
