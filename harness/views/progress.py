"""Show the progress of long runs: a live line on a terminal, or lines on standard error at growing intervals."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from epochfuzz.harness.engine.explore.explore import SearchProgress
from epochfuzz.harness.engine.walk.walk import Tally
from epochfuzz.harness.findings.findings import Finding
from epochfuzz.harness.text.progress_lines import ProgressLines
from epochfuzz.harness.views.console import PrintableConsole
from epochfuzz.harness.views.summary import standing


class _Live(Progress):
    """A progress display with lines about findings above it."""

    lines: Sequence[Text] = ()

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield the lines and the progress bar."""
        yield from self.lines
        yield from super().get_renderables()


class LiveLine:
    """A line that shows the current task and its progress, on the terminal or from time to time on standard error."""

    def __init__(self, progress: _Live, task: TaskID, schedules: int | None, seconds: float | None) -> None:
        self._log = PrintableConsole(stderr=True, highlight=False, markup=False, soft_wrap=True)
        self._began = time.monotonic()
        self._lines = ProgressLines()
        self._progress = progress
        self._task = task
        self._schedules = schedules
        self._seconds = seconds

    def doing(self, what: str) -> None:
        """Show the name of the current task, without a percentage."""
        self._progress.update(self._task, total=None)
        self._show(what)

    def found(self, findings: Sequence[Finding]) -> None:
        """Show one line for each finding so far. Call this again when a finding's schedule gets shorter."""
        self._progress.lines = [standing(finding) for finding in findings]

    def walked(self, tally: Tally, elapsed: float) -> None:
        """Show the progress of a random run: its results so far, and the seconds since its start (`elapsed`)."""
        broken = int((tally.seen > 0).sum())
        done = elapsed / self._seconds if self._seconds else tally.schedules / (self._schedules or 1)
        rate = int(tally.events.sum()) / max(elapsed, 1e-9) / 1e6
        self._progress.update(self._task, completed=min(done, 1.0))
        self._show(f"{tally.schedules:,} schedules · {rate:.1f} million events/s · {broken} broken")

    def searched(self, progress: SearchProgress) -> None:
        """Show the progress of an exhaustive search."""
        self.doing(f"depth {progress.depth} · {progress.states:,} states · {progress.waiting:,} waiting")

    def _show(self, text: str) -> None:
        """Show the text as the live line. If the output is not a terminal, print the text when a line is due."""
        self._progress.update(self._task, description=text)
        if self._progress.disable and self._lines.is_due(time.monotonic() - self._began):
            self._log.print(text)


@contextmanager
def show_walk(out: Console, schedules: int | None, seconds: float | None) -> Iterator[LiveLine]:
    """Show a progress bar for a random run that ends after `schedules` schedules or after `seconds` seconds."""
    with _live(out, BarColumn()) as progress:
        yield LiveLine(progress, progress.add_task("compiling", total=1.0), schedules, seconds)


@contextmanager
def show_search(out: Console) -> Iterator[LiveLine]:
    """Show a spinner for an exhaustive search, whose remaining work is unknown."""
    with _live(out) as progress:
        yield LiveLine(progress, progress.add_task("compiling", total=None), None, None)


def _live(out: Console, *columns: BarColumn) -> _Live:
    return _Live(
        SpinnerColumn(), TextColumn("{task.description}"), *columns, TimeElapsedColumn(),
        console=out, transient=True, disable=not out.is_terminal,
    )  # fmt: skip
