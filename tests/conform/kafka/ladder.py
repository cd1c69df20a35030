"""`python -m tests.conform.kafka.ladder [RELEASE ...]`: replay the corpus on the code of Kafka's releases.

The command replays each case on the broker code of each release and under the release's protocol in the model, and
prints the broken properties of both. The exit code is 0 if they agree, or if differences.py gives a reason why they
don't. It is 1 for any other difference, and 2 if a required program is not installed.
"""

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.protocol.discrepancy import JUDGED, SubjectUnable
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.rerun import Rerun, rerun
from epochfuzz.harness.trace.replay import broken_text
from tests.conform.kafka.build import build_of
from tests.conform.kafka.differences import reason
from tests.conform.kafka.releases import ReleaseError
from tests.conform.kafka.rungs import Rung, rungs_of
from tests.systems.jvm.build import BuildError, missing

ROOT = Path(__file__).parents[3]
CORPUS = (ROOT / "corpus" / "documents", ROOT / "corpus" / "history")
PATIENCE = 30.0  # a machine that compiles at the same time may be slow


@dataclass(frozen=True)
class Verdict:
    """The result of a case on a row of the release matrix. `model` is None if the model has no protocol for the row."""

    case: str
    rung: Rung
    rerun: Rerun

    @property
    def kafka(self) -> str:
        """The properties that break on Kafka's own code, in words."""
        differs = self.rerun.differs
        if differs is not None and differs[1].kind not in JUDGED:
            return f"no answer: {differs[1].sentence}"
        return broken_text(self.rerun.subject)

    @property
    def model(self) -> str | None:
        """The properties that break in the model, in words."""
        return None if self.rung.of_the_model() is None else broken_text(self.rerun.model)

    @property
    def is_as_it_should_be(self) -> bool:
        """True if the model agrees, has no such protocol, or differs for a known reason."""
        if self.kafka.startswith("no answer"):
            return False
        return self.model in (None, self.kafka) or reason(self.rung, self.case, self.kafka) is not None


def main() -> int:
    """Build the missing adapters, replay the cases on the release matrix, and print the results."""
    parser = argparse.ArgumentParser(prog="python -m tests.conform.kafka.ladder", description=__doc__)
    parser.add_argument("release", nargs="*", help="the releases; all if left out")
    chosen = parser.parse_args().release
    out = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    for lack in missing():
        out.print(lack, markup=False)
        return 2
    cases = load_corpus(CORPUS)
    verdicts: list[Verdict] = []
    try:
        for rung in rungs_of(chosen):
            verdicts += _climb(rung, cases, out)
    except (BuildError, ReleaseError) as error:
        out.print(str(error), markup=False)
        return 2
    out.print(_table(verdicts))
    for verdict in verdicts:
        if verdict.model not in (None, verdict.kafka):
            why = reason(verdict.rung, verdict.case, verdict.kafka) or "NOT WRITTEN DOWN"
            line = f"{verdict.case} on {verdict.rung.name}: {verdict.kafka}; in the model {verdict.model}. {why}"
            out.print(line, markup=False, soft_wrap=True)
    return 0 if all(verdict.is_as_it_should_be for verdict in verdicts) else 1


def _climb(rung: Rung, cases: Sequence[Case], out: Console) -> Iterator[Verdict]:
    """Replay all cases on a row of the release matrix, and print the time that the replays take."""
    build_of(rung.release).class_path()
    started = time.monotonic()
    events = ran = differ = 0
    unable: Counter[str] = Counter()
    with CommandSubject([sys.executable, "-m", "tests.conform.kafka", *rung.words], PATIENCE) as subject:
        for case in cases:
            try:
                verdict = Verdict(case.id, rung, rerun(subject, case, rung.protocol_for(case)))
            except SubjectUnable as error:
                unable[str(error)] += 1
                continue
            ran += 1
            events += len(case.events)
            differ += verdict.model not in (None, verdict.kafka)
            yield verdict
    beside = "nothing: the model has no such protocol" if rung.of_the_model() is None else rung.protocol
    seconds = time.monotonic() - started
    out.print(
        f"{rung.name:>16}  {ran} cases, {events} events, {seconds:4.1f} s, {differ} not as in {beside}",
        markup=False,
        soft_wrap=True,
    )
    for why, cases_left_out in sorted(unable.items()):
        out.print(f"{'':>16}  {cases_left_out} not replayed: {why}", markup=False, soft_wrap=True)


def _table(verdicts: Sequence[Verdict]) -> Table:
    """Return a table with a row for each result of a case, the model's result, and the releases with both results."""
    rows: defaultdict[tuple[str, str, str | None], list[str]] = defaultdict(list)
    for verdict in sorted(verdicts, key=lambda each: each.case):
        rows[verdict.case, verdict.kafka, verdict.model].append(verdict.rung.name)
    table = Table("case", "Kafka's own code breaks", "the model", "releases")
    last = None
    for (case, kafka, model), names in rows.items():
        beside = Text("has none") if model is None else Text("the same") if model == kafka else Text(model, "bold")
        table.add_row(case if case != last else "", kafka, beside, ", ".join(names))
        last = case
    return table


if __name__ == "__main__":
    sys.exit(main())
