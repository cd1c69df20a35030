"""Test an implementation of replication: compare it with the model, or check only the guarantees to clients.

docs/how-to/test-your-broker.md is the guide.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from epochfuzz.harness.conform.protocol.subject import CommandSubject, Subject
    from epochfuzz.harness.conform.protocol.wire import Config, Observation
    from epochfuzz.harness.conform.run.machine import conformance_test

__all__ = ["CommandSubject", "Config", "Observation", "Subject", "conformance_test"]

_HOMES = {
    "CommandSubject": "protocol.subject",
    "Config": "protocol.wire",
    "Observation": "protocol.wire",
    "Subject": "protocol.subject",
    "conformance_test": "run.machine",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, because worker processes don't need Hypothesis."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
