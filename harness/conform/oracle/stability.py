"""Check that the system under test gives the same replies when it runs a schedule twice."""

from collections.abc import Iterator
from typing import Any

from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind, shown
from epochfuzz.harness.conform.protocol.wire import Observation
from epochfuzz.harness.conform.run.drive import ConformanceFailure, Driven


def changed(first: Driven, second: Driven) -> list[ConformanceFailure]:
    """Return a failure for the first reply that differs between two runs of a schedule, or [] if all are equal."""
    for number, (answer, again) in enumerate(zip(first.answers, second.answers, strict=False), start=1):
        if answer != again:
            one, other = _part_that_changed(answer, again)
            return [
                ConformanceFailure(Discrepancy(DiscrepancyKind.UNSTABLE, None, one, other), bytes(first.sent[:number]))
            ]
    return []


def _part_that_changed(answer: tuple[bool, Observation], again: tuple[bool, Observation]) -> tuple[str, str]:
    """Return the first differing field as two texts: with its value in `answer`, and with its value in `again`."""
    one, other = (dict(_flat({"applied": applied, **observation})) for applied, observation in (answer, again))
    name = next(name for name in [*one, *other] if one.get(name) != other.get(name))
    return f"{name} {shown(one.get(name))}", f"{name} {shown(other.get(name))}"


def _flat(part: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _flat(value, f"{name}.{key}".lstrip("."))
    else:
        yield name, part
