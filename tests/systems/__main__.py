"""`python -m tests.systems [SYSTEM ...]`: what systems that nobody here wrote make of the corpus, and of their cases.

Builds each system, replays the cases on it, those that break something twice, and prints what each system breaks, in
how many events. A system that cannot be built is left out, and it is said what to install. The exit code is 0 where
every case is as it expects; 1 where one is not; 2 where no system could be run.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.trace.replay import broken_text
from tests.systems.matrix import Replays, Sight, evidence, table
from tests.systems.registry import SYSTEMS
from tests.systems.system import BuildError, System

CORPUS = Path(__file__).parents[2] / "corpus"


def main() -> int:
    """Build and run the systems that were named, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.systems", description=__doc__)
    names = ", ".join(system.name for system in SYSTEMS)
    parser.add_argument("system", nargs="*", help=f"a name, or how one begins; all, if none is given: {names}")
    given = parser.parse_args().system
    chosen = [each for each in SYSTEMS if not given or any(each.name.startswith(name) for name in given)]
    if not chosen:
        parser.error(f"there is no system {', '.join(given)}; there are {names}")
    out = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    cases = load_corpus([CORPUS])
    sights = [sight for system in chosen if is_there(system, out) for sight in replayed(system, cases, out)]
    if not sights:
        return 2
    show(sights, out)
    return 1 if any(sight.complaints for sight in sights) else 0


def is_there(system: System, out: Console) -> bool:
    """Build a system; False if it cannot be, and it is said why."""
    lacking = system.missing()
    if not lacking:
        try:
            system.build()
        except BuildError as error:
            lacking = [str(error)]
    for lack in lacking:
        out.print(f"{system.name} is left out: {lack}", markup=False, soft_wrap=True)
    return not lacking


def replayed(system: System, cases: Sequence[Case], out: Console) -> list[Sight]:
    """Replay all cases that are for everybody, and those that name the system."""
    theirs = [case for case in cases if not case.systems or system.name in case.systems]
    started, replays = time.monotonic(), Replays(system)
    sights = list(replays.of(theirs))
    events = sum(len(sight.case.events) for sight in sights)
    seconds = time.monotonic() - started
    out.print(f"{system.name}: {len(sights)} cases, {events} events, {seconds:.1f} s", markup=False, soft_wrap=True)
    for why, count in sorted(replays.unable.items()):
        out.print(f"    {count} not replayed: {why}", markup=False, soft_wrap=True)
    return sights


def show(sights: Sequence[Sight], out: Console) -> None:
    """Print the table, what shows each of its cells, the systems' own cases, and what is not as it should be."""
    out.print(table(sights))
    for line in evidence(sights):
        out.print(f"  {line}", markup=False, soft_wrap=True)
    for sight in sights:
        if sight.expected is not None:
            told = "" if not sight.expected.broken else f"; {sight.expected.issue or 'no issue known'}"
            out.print(f"{sight.case.id} on {sight.system.name}: {broken_text(sight.run)}{told}", markup=False)
        for complaint in sight.complaints:
            out.print(f"NOT AS EXPECTED: {sight.case.id} on {sight.system.name}: {complaint}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
