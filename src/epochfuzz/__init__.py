"""Property-based fuzz testing of Kafka-style replication.

Import the public names with `from epochfuzz import ...`, as docs/how-to/pytest.md shows. Python loads each name when it
is first used, so `import epochfuzz` takes almost no time.

The packages are links to the folders with the same names at the top of the repository. You import `epochfuzz.model`,
not `model`, so epochfuzz does not collide with modules of your project.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from epochfuzz.harness.conform.protocol.subject import CommandSubject, Subject
    from epochfuzz.harness.conform.protocol.wire import Config, Observation
    from epochfuzz.harness.conform.run.machine import NonConformance, conformance_test
    from epochfuzz.harness.spark_api import audit, campaign, conform
    from epochfuzz.harness.testing import NoSuchSchedule, minimal, run_schedule
    from epochfuzz.harness.trace.replay import Run
    from epochfuzz.model.kafka.vocabulary.configuration import Configuration
    from epochfuzz.strategies.failures import PropertyBroken
    from epochfuzz.strategies.machine import ReplicationMachine, replication_machine

    __version__: str

__all__ = [
    "CommandSubject",
    "Config",
    "Configuration",
    "NoSuchSchedule",
    "NonConformance",
    "Observation",
    "PropertyBroken",
    "ReplicationMachine",
    "Run",
    "Subject",
    "__version__",
    "audit",
    "campaign",
    "conform",
    "conformance_test",
    "minimal",
    "replication_machine",
    "run_schedule",
]

_HOMES = {
    "CommandSubject": "harness.conform.protocol.subject",
    "Config": "harness.conform.protocol.wire",
    "Configuration": "model.kafka.vocabulary.configuration",
    "NoSuchSchedule": "harness.testing",
    "NonConformance": "harness.conform.run.machine",
    "Observation": "harness.conform.protocol.wire",
    "PropertyBroken": "strategies.failures",
    "ReplicationMachine": "strategies.machine",
    "Run": "harness.trace.replay",
    "Subject": "harness.conform.protocol.subject",
    "audit": "harness.spark_api",
    "campaign": "harness.spark_api",
    "conform": "harness.spark_api",
    "conformance_test": "harness.conform.run.machine",
    "minimal": "harness.testing",
    "replication_machine": "strategies.machine",
    "run_schedule": "harness.testing",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "__version__":
        from epochfuzz.harness.environment.version import epochfuzz_version

        return epochfuzz_version()
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
