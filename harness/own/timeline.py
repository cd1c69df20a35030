"""Draw timelines for any model: a line for each event, with the fields that it changed and the broken properties."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.fields import NONE, Field, Names
from epochfuzz.model.core.model import Protocol
from epochfuzz.model.core.simple_model import REPLICA_NAMES


@dataclass(frozen=True)
class OwnRun:
    """The result of a replay: its timeline (`lines`) and the broken properties.

    `at` is the number of the event that first broke a property, None if no property broke.
    """

    lines: tuple[str, ...]
    broken: tuple[str, ...]
    at: int | None


def describe(schedule: bytes, protocol: Protocol, settings: Any) -> OwnRun:
    """Replay a schedule, and describe each event in one line.

    Events that are not enabled are marked. Violations of properties that are checked at the end are in the last line.
    """
    execution = Execution(protocol, settings)
    model = protocol.model
    lines, broken, at = [_line(0, "", ", ".join(f"{n} {v}" for n, v in _values(execution.state).items()))], 0, None
    for number, event in enumerate(schedule, start=1):
        before = _values(execution.state)
        if execution.apply(event):
            after = _values(execution.state)
            changed = [f"{name} {before[name]} -> {after[name]}" for name in after if after[name] != before[name]]
            lines.append(_line(number, model.events.text(event), ", ".join(changed) or "nothing changes"))
        else:
            lines.append(_line(number, model.events.text(event), "is not enabled"))
        new = execution.broken() & ~broken
        lines += _broken(model.judgement.named(new), "")
        at = number if new and at is None else at
        broken |= new
    at_end = execution.broken_at_end() & ~broken
    lines += _broken(model.judgement.named(at_end), ", if this is the end")
    at = len(schedule) if at_end and at is None else at
    return OwnRun(tuple(lines), tuple(model.judgement.named(broken | at_end)), at)


def _line(number: int, event: str, said: str) -> str:
    return f"{number:3} {event:14} {said}"


def _broken(names: list[str], when: str) -> Iterator[str]:
    if names:
        yield f"{'':18} BROKEN: {', '.join(names)}{when}"


def _values(p: Any) -> dict[str, str]:
    """Return the value of each element of a state as text, by a name such as `log[A, 0]`."""
    values = {}
    for field in p.table.variables:
        if field.read(p):
            for index in product(*(range(axis.used(p)) for axis in field.by)):
                value = getattr(p, field.name)
                if index:
                    value = value[index if len(index) > 1 else index[0]]
                values[_name(field, index)] = _text(field, value)
    return values


def _name(field: Field, index: tuple[int, ...]) -> str:
    of = (REPLICA_NAMES[i] if axis.of_replicas else str(i) for i, axis in zip(index, field.by, strict=True))
    return f"{field.name}[{', '.join(of)}]" if index else field.name


def _text(field: Field, value: int) -> str:
    if field.names is Names.REPLICA:
        return "nobody" if value == NONE else REPLICA_NAMES[value]
    if field.names is Names.REPLICAS:
        return "".join(name for r, name in enumerate(REPLICA_NAMES) if value >> r & 1) or "nobody"
    return str(value)
