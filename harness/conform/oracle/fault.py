"""A fault: what is wrong with a subject, seen once."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from epochfuzz.harness.printable import printable

_MOST_SHOWN = 500  # characters of a value: a subject may answer with a mebibyte of it


class Kind(StrEnum):
    """The kinds of fault: the subject is wrong, or it cannot be judged."""

    DIFFERENCE = "difference"  # it is not what the model is
    PROMISE = "promise"  # a property is broken
    DIED = "died"
    TIMEOUT = "timeout"
    GARBAGE = "garbage"  # a line that is not of the protocol
    FLOOD = "flood"
    UNSTABLE = "unstable"  # another answer the second time


JUDGED = (Kind.DIFFERENCE, Kind.PROMISE)


@dataclass(frozen=True)
class Fault:
    """What is wrong, and where.

    `field` is the field that differs, such as `replicas.B.hw` or `applied`, or the property that broke; None where the
    subject gave no answer to judge. `output` is the end of what it printed, where that says more than the answer.
    """

    kind: Kind
    field: str | None
    expected: Any
    observed: Any
    output: str = ""

    @property
    def signature(self) -> tuple[Kind, str]:
        """What faults of one cause have in common, as far as can be known: the kind, and the field on any replica."""
        return self.kind, (self.field or "").rpartition(".")[2]

    @property
    def sentence(self) -> str:
        """What is wrong, in one sentence."""
        expected, observed = shown(self.expected), shown(self.observed)
        match self.kind:
            case Kind.DIFFERENCE:
                return f"{self.field} is {observed}, and {expected} in the model"
            case Kind.PROMISE:
                return f"{self.field} is broken: {observed}"
            case Kind.UNSTABLE:
                return f"not the same the second time, from a reset on: {expected}; then {observed}"
            case _:
                return observed


class SubjectFailed(Exception):
    """The subject gave no answer that can be judged."""

    def __init__(self, kind: Kind, message: str, output: str = "") -> None:
        super().__init__(message)
        self.fault = Fault(kind, None, "an answer", message, output)


class SubjectUnable(Exception):
    """The subject said that it does not have a protocol or a configuration; the message is its own, made printable."""

    def __init__(self, message: str) -> None:
        super().__init__(shown(message))


def shown(value: Any) -> str:
    """Return a value of an observation as people write it: printable, and no longer than people would read."""
    text = printable(_written(value))
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]} ... ({len(text):,} characters)"


def _written(value: Any) -> str:
    match value:
        case None:
            return "nobody"
        case bool():
            return str(value).lower()
        case list() | tuple():
            return f"[{', '.join(map(_written, value))}]"
        case dict():
            return ", ".join(f"{key}: {_written(each)}" for key, each in value.items()) or "-"
        case _:
            return str(value)
