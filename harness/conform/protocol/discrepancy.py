"""A discrepancy: an error of a system under test, or a failure of its adapter."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from epochfuzz.harness.text.printable import printable

_MOST_SHOWN = 500  # characters of a value, because a reply may be a mebibyte long


class DiscrepancyKind(StrEnum):
    """The kinds of discrepancy.

    DIFFERENCE and PROMISE are errors of the system under test. The other kinds are failures of the adapter.
    """

    DIFFERENCE = "difference"  # a field differs from the model
    PROMISE = "promise"  # a property is broken
    DIED = "died"
    TIMEOUT = "timeout"
    GARBAGE = "garbage"  # a line that does not follow the conformance protocol
    FLOOD = "flood"
    UNSTABLE = "unstable"  # the reply changed when the schedule was repeated


JUDGED = (DiscrepancyKind.DIFFERENCE, DiscrepancyKind.PROMISE)


@dataclass(frozen=True)
class Discrepancy:
    """An error of a system under test, or a failure of its adapter.

    `field` is the differing field, such as `replicas.B.hw` or `applied`, or the property that broke. `field` is None if
    the adapter failed. If an adapter's process failed, `output` is the end of the process's output. For a violation of
    `convergence`, `output` lists the events that stopped all faults.
    """

    kind: DiscrepancyKind
    field: str | None
    expected: Any
    observed: Any
    output: str = ""

    @property
    def signature(self) -> tuple[DiscrepancyKind, str]:
        """The kind, and the last part of the field's name, such as `hw` for `replicas.B.hw`.

        Discrepancies with equal signatures usually have the same cause.
        """
        return self.kind, (self.field or "").rpartition(".")[2]

    @property
    def sentence(self) -> str:
        """A description of the discrepancy in one sentence."""
        expected, observed = shown(self.expected), shown(self.observed)
        match self.kind:
            case DiscrepancyKind.DIFFERENCE:
                return f"{self.field} is {observed}, and {expected} in the model"
            case DiscrepancyKind.PROMISE:
                return f"{self.field} is broken: {observed}"
            case DiscrepancyKind.UNSTABLE:
                return f"the reply changed when the schedule was repeated: first {expected}, then {observed}"
            case _:
                return observed


class SubjectFailed(Exception):
    """The adapter gave no valid reply. `fault` is the discrepancy."""

    def __init__(self, kind: DiscrepancyKind, message: str, output: str = "") -> None:
        super().__init__(message)
        self.fault = Discrepancy(kind, None, "an answer", message, output)


class SubjectUnable(Exception):
    """The adapter does not support a protocol or a configuration, or a client sent no request for an event of a case.

    In the first case, the message comes from the adapter.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shown(message))


def shown(value: Any) -> str:
    """Return a value of an observation as printable text. Shortens a text of more than 500 characters."""
    text = printable(_written(value))
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]} ... ({len(text):,} characters)"


def _written(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case list() | tuple():
            return f"[{', '.join(map(_written, value))}]"
        case dict():
            return ", ".join(f"{key}: {_written(each)}" for key, each in value.items()) or "-"
        case _:
            return str(value)
