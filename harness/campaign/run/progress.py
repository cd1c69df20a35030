"""Progress of a campaign: a live line on a terminal; elsewhere a line now and then, ever more rarely."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from epochfuzz.harness.campaign.run.work import Counts, Work

_FIRST = 10.0  # seconds until the first line where there is no terminal
_RARER = 1.5  # how many times as long until each of the next


class Shown:
    """Shows how far a campaign is."""

    def __init__(self, out: Console, work: Work[Any]) -> None:
        self._out = out
        self._work = work
        self._next = _FIRST
        self._live = Progress(
            SpinnerColumn(), BarColumn(), TextColumn("{task.description}"),
            console=out, transient=True, disable=not out.is_terminal,
        )  # fmt: skip
        self._bar = self._live.add_task("waiting for the workers", total=1.0)

    @staticmethod
    @contextmanager
    def on(out: Console, work: Work[Any]) -> Iterator["Shown"]:
        """Show the progress of one campaign."""
        shown = Shown(out, work)
        with shown._live:
            yield shown

    def doing(self, what: str) -> None:
        """Name what is being done."""
        self._live.update(self._bar, description=what)
        if not self._out.is_terminal:
            self._out.print(what)

    def counted(self, counts: Counts, seconds: float) -> None:
        """Blocks are done: what they come to so far, and how long that took."""
        if not counts["schedules"] or not seconds:  # a driver that was killed may not have noted how long it took
            return
        text = self._work.progress(counts, seconds)
        remaining = self._work.seconds_remaining(counts, seconds)
        if remaining is not None:
            text += f" · {duration(remaining)} left"
            self._live.update(self._bar, completed=seconds / (seconds + remaining))
        self._live.update(self._bar, description=text)
        if not self._out.is_terminal and seconds >= self._next:
            self._next = seconds * _RARER
            self._out.print(text)


def duration(seconds: float) -> str:
    """Seconds for people."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
