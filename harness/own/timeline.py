"""Draw timelines for any model: a line for each event, with its effect and the broken properties."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.model import Protocol


@dataclass(frozen=True)
class OwnRun:
    """The result of a replay: its timeline (`lines`) and the broken properties.

    `at` is the number of the event that first broke a property, None if no property broke.
    """

    lines: tuple[str, ...]
    broken: tuple[str, ...]
    at: int | None


def describe(schedule: bytes, protocol: Protocol, settings: Any) -> OwnRun:
    """Replay a schedule, and describe each event in one line, in the words of the model (`Model.describe_step`).

    Violations of properties that are checked at the end are in the last line.
    """
    execution = Execution(protocol, settings)
    model = protocol.model
    lines, broken, at = [_line(0, "", model.describe_state(execution.state))], 0, None
    for number, event in enumerate(schedule, start=1):
        before = execution.state.copy()
        reason = execution.attempt(event)
        effect = model.describe_step(before, event, reason, execution.state)
        lines.append(_line(number, model.events.text(event), effect))
        new = execution.broken() & ~broken
        lines += _broken(model.judgement.named(new), "")
        at = number if new and at is None else at
        broken |= new
    at_end = execution.broken_at_end() & ~broken
    lines += _broken(model.judgement.named(at_end), ", if this is the end")
    at = len(schedule) if at_end and at is None else at
    return OwnRun(tuple(lines), tuple(model.judgement.named(broken | at_end)), at)


def print_lines(out: Console, run: OwnRun) -> None:
    """Print the timeline of a replay."""
    for line in run.lines:
        out.print(line, markup=False, soft_wrap=True)


def _line(number: int, event: str, said: str) -> str:
    return f"{number:3} {event:14} {said}"


def _broken(names: list[str], when: str) -> Iterator[str]:
    if names:
        yield f"{'':18} BROKEN: {', '.join(names)}{when}"
