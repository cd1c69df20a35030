"""Show a first lost record while Numba compiles, on a machine that runs epochfuzz for the first time."""

from collections.abc import Callable, Sequence

from rich.console import Console

from epochfuzz.harness.cli.warming import Warming
from epochfuzz.harness.engine.runtime import uncompiled_search
from epochfuzz.harness.trace.replay import replay
from epochfuzz.harness.views.terminal import timeline
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Bounds, Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

SHOWN = "and no schedule is shorter"  # end of the line that describes the finding
SMALL = (Bounds(1, 1), Bounds(1, 2), Bounds(2, 2))  # bounds within which most short schedules are found
_SOUGHT = properties.named("no-committed-loss")


def show_first_finding(out: Console, protocols: Sequence[Protocol], settings: Configuration) -> None:
    """Search for a shortest schedule that loses a record, and show it, while Numba compiles the code for random runs.

    Does nothing if the code is compiled already.
    """
    warming = Warming()
    try:
        if warming.goes_on:
            out.print("compiling, once on this machine; meanwhile, an exhaustive search runs interpreted")
            _search(out, protocols, settings, lambda: warming.goes_on)
            with out.status("compiling"):
                warming.wait()
    except BaseException:
        warming.stop()
        raise


def _search(out: Console, protocols: Sequence[Protocol], settings: Configuration, goes_on: Callable[[], bool]) -> None:
    """Search under one protocol after another for a schedule that loses a record, and show the first one found.

    The search ends when `goes_on` returns False.
    """
    for protocol in protocols:
        try:
            schedule = uncompiled_search.shortest(protocol, settings, _SOUGHT.bit, SMALL, goes_on)
        except uncompiled_search.GivenUp:
            return
        if schedule is not None:
            out.print(timeline(replay(schedule, protocol, settings)))
            out.print(f"{protocol.name} breaks {_SOUGHT.name}: {len(schedule)} events, {SHOWN}")
            return
