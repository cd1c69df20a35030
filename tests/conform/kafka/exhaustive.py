"""`python -m tests.conform.kafka.exhaustive [RELEASE ...]`: every transition of the model on Kafka's own code.

With 2 replicas, 1 record and 2 epoch changes, release by release, under the protocol of the rung; `--for 10m` plays so
long on each, and goes on from there the next time. The exit code is 0 where nothing differs but what is written down in
differences.yaml; 1 where something does; 2 where something is missing that has to be installed.
"""

import argparse
import sys
from pathlib import Path

from rich.console import Console

from epochfuzz.harness.cli.options import parse_duration
from epochfuzz.harness.conform.exhaustive.crew import Asked, Exhaustive
from epochfuzz.harness.conform.oracle.known import load_known
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import run
from epochfuzz.harness.conform.run.workers import Processes
from epochfuzz.harness.views import transitions
from epochfuzz.harness.views.conformance import nonconformity_text
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from tests.conform.kafka.build import build_of
from tests.conform.kafka.ladder import PATIENCE, ROOT
from tests.conform.kafka.rungs import RUNGS, Rung
from tests.systems.jvm.build import BuildError, missing

BOUNDS = Configuration(replicas=2, records=1, epochs=2)
TOURS = 2_000  # that a process lives for: Kafka's code gets faster for a minute
KNOWN = Path(__file__).with_name("differences.yaml")


def main() -> int:
    """Play all transitions on each rung, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.conform.kafka.exhaustive", description=__doc__)
    parser.add_argument("release", nargs="*", help="all of them, if none is named")
    parser.add_argument("--refused", action="store_true", help="send every event that is refused, too")
    parser.add_argument("--for", dest="seconds", type=parse_duration, help="how long to play on each: 10m")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "kafka-exhaustive", help="where it is kept")
    given = parser.parse_args()
    out = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    for lack in missing():
        out.print(lack, markup=False)
        return 2
    conforms = True
    try:
        for rung in RUNGS:
            if (not given.release or rung.release in given.release) and rung.of_the_model() is not None:
                asked = Asked(given.refused, given.seconds, given.out)
                conforms &= _exhaust(rung, asked, out)
    except BuildError as error:
        out.print(str(error), markup=False)
        return 2
    return 0 if conforms else 1


def _exhaust(rung: Rung, asked: Asked, out: Console) -> bool:
    """Play a rung's transitions; whether nothing differs but what is known."""
    protocol = rung.of_the_model()
    assert protocol is not None
    build_of(rung.release).class_path()
    command = (sys.executable, "-m", "tests.conform.kafka", *rung.words)
    plan = Plan(
        command, [protocol], BOUNDS, 0, 0, patience=PATIENCE, processes_for=TOURS, known=load_known(KNOWN)
    )  # fmt: skip
    crew = Exhaustive(asked, Processes())
    conformance = run(plan, crew)
    out.print(f"\n{rung.name}", style="bold")
    for line in transitions.summary(conformance, plan, crew.keeper.path if crew.keeper else None):
        out.print(line, markup=False, soft_wrap=True)
    for nonconformity in conformance.nonconformities:
        out.print(nonconformity_text(nonconformity))
    if conformance.interrupted:
        raise KeyboardInterrupt
    return conformance.conforms


if __name__ == "__main__":
    sys.exit(main())
