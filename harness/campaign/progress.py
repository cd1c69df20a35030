"""Progress of a campaign: a live line on a terminal; elsewhere a line now and then, ever more rarely."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from epochfuzz.harness.campaign.parameters import Parameters
from epochfuzz.harness.campaign.waves import Counts
from epochfuzz.harness.views.summary import rate
from epochfuzz.model import properties

_FIRST = 10.0  # seconds until the first line where there is no terminal
_RARER = 1.5  # how many times as long until each of the next


class Shown:
    """Shows how far a campaign is."""

    def __init__(self, out: Console, parameters: Parameters) -> None:
        self._out = out
        self._parameters = parameters
        self._next = _FIRST
        self._live = Progress(
            SpinnerColumn(), BarColumn(), TextColumn("{task.description}"),
            console=out, transient=True, disable=not out.is_terminal,
        )  # fmt: skip
        self._bar = self._live.add_task("waiting for the workers", total=1.0)

    @staticmethod
    @contextmanager
    def on(out: Console, parameters: Parameters) -> Iterator["Shown"]:
        """Show the progress of one campaign."""
        shown = Shown(out, parameters)
        with shown._live:
            yield shown

    def doing(self, what: str) -> None:
        """Name what is being done."""
        self._live.update(self._bar, description=what)
        if not self._out.is_terminal:
            self._out.print(what)

    def walked(self, counts: Counts, elapsed: float) -> None:
        """Schedules were walked."""
        if not counts.schedules or not elapsed:  # a driver that was killed may not have noted how long it took
            return
        left = self._seconds_left(counts, elapsed)
        text = (
            f"{counts.schedules:,} schedules · {rate((counts.events.sum() + counts.steps) / elapsed)}"
            f" · {self._broken(counts)} findings so far"
        )
        if left is not None:
            text += f" · {_duration(left)} left"
            self._live.update(self._bar, completed=elapsed / (elapsed + left))
        self._live.update(self._bar, description=text)
        if not self._out.is_terminal and elapsed >= self._next:
            self._next = elapsed * _RARER
            self._out.print(text)

    def _seconds_left(self, counts: Counts, elapsed: float) -> float | None:
        """None where only stability ends the campaign: nobody knows when that is."""
        if self._parameters.seconds is not None:
            return max(0.0, self._parameters.seconds - elapsed)
        if self._parameters.schedules is not None:
            return max(0.0, self._parameters.schedules / counts.schedules - 1) * elapsed
        return None

    def _broken(self, counts: Counts) -> int:
        """How many properties were broken that may not break, each counted for each protocol."""
        allowed = properties.permitted(self._parameters.settings)
        counted = [bit for bit, name in enumerate(properties.NAMES) if name not in allowed]
        return int((counts.seen[:, counted] > 0).sum())


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
