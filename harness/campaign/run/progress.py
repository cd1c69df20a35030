"""Show the progress of a campaign: a live line on a terminal, or lines at growing intervals in other outputs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from epochfuzz.harness.campaign.run.job import Counts, Job
from epochfuzz.harness.text.progress_lines import ProgressLines


class CampaignProgress:
    """The progress display of one campaign."""

    def __init__(self, out: Console, work: Job[Any]) -> None:
        self._out = out
        self._work = work
        self._lines = ProgressLines()
        self._step = ""
        self._live = Progress(
            SpinnerColumn(), BarColumn(), TextColumn("{task.description}"),
            console=out, transient=True, disable=not out.is_terminal,
        )  # fmt: skip
        self._bar = self._live.add_task("waiting for the workers", total=1.0)

    @staticmethod
    @contextmanager
    def on(out: Console, work: Job[Any]) -> Iterator["CampaignProgress"]:
        """Show the progress of a campaign until the with statement ends. Yields the display."""
        shown = CampaignProgress(out, work)
        with shown._live:
            yield shown

    def doing(self, what: str) -> None:
        """Show the name of the current step. Without a terminal, a step is printed once."""
        self._live.update(self._bar, description=what)
        if not self._out.is_terminal and what != self._step:
            self._out.print(what)
        self._step = what

    def counted(self, counts: Counts, seconds: float) -> None:
        """Show the counts of the finished blocks, and the seconds that these blocks took."""
        if not counts["schedules"] or not seconds:  # a killed driver may not have recorded the time of its waves
            return
        text = self._work.progress(counts, seconds)
        remaining = self._work.seconds_remaining(counts, seconds)
        if remaining is not None:
            text += f" · {duration(remaining)} left"
            self._live.update(self._bar, completed=seconds / (seconds + remaining))
        self._live.update(self._bar, description=text)
        if not self._out.is_terminal and self._lines.is_due(seconds):
            self._out.print(text)


def duration(seconds: float) -> str:
    """Return seconds as text for a reader, such as `2 h 5 min`."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
