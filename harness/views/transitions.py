"""Describe an exhaustive conformance run, which plays every transition within bounds on a system under test."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich import filesize

from epochfuzz.harness.conform.exhaustive.graph import Tour
from epochfuzz.harness.conform.exhaustive.tour_files import Size, TourFiles, WrittenTours, line
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.documents.records import Played
from epochfuzz.harness.text.plain import fields_of
from epochfuzz.harness.trace.replay import replay
from epochfuzz.harness.views import conformance as report
from epochfuzz.harness.views import itf

if TYPE_CHECKING:
    from epochfuzz.harness.documents import conformance as documents

_MUCH = 1_000_000_000  # bytes


class ItfFiles(TourFiles):
    """Writes test sequences as ITF traces, one in each file.

    The `#meta` of a state has the number of the transition that leads to the state.
    """

    NAME = "tour-{}.itf.json"
    TOGETHER = 1

    def text(self, tour: Tour) -> str:
        """Return the ITF trace of a test sequence."""
        source = f"a tour along transitions of {self.protocol.name}"
        return line(itf.document(replay(tour.events, self.protocol, self.settings), source, tour.edges))


def summary(conformance: Conformance, plan: Plan, kept: Path | None) -> Iterator[str]:
    """Yield lines that summarize an exhaustive run. `kept` is the file with the progress to resume from, or None."""
    toured = conformance.toured
    if toured is None:
        yield "The system under test did not reply, so no transition was played."
        return
    yield _verdict(conformance, plan, toured.applied)
    if toured.refused is not None:
        yield _refused(toured.refused)
    yield (
        f"{conformance.schedules:,} tours, {conformance.shown.steps:,} steps in {conformance.seconds:.1f} s"
        f" ({conformance.steps_per_second:,} steps/s)"
    )
    if conformance.given_up:
        yield "Not all tours were played: too few replies could be checked."
    elif not toured.is_complete and kept is not None:
        yield _goes_on(kept)
    if toured.lacking:
        yield f"Not played: {toured.lacking:,} transitions that need events that the adapter does not support"
    yield from report.left_open(conformance, plan)


def interrupted(conformance: Conformance, kept: Path | None) -> Iterator[str]:
    """Yield lines about a run that Ctrl-C ended. `kept` is the file with the progress to resume from, or None."""
    for protocol, failed in conformance.unshrunk:
        yield f"{failed.fault.kind} under {protocol.name}: {failed.fault.sentence}; not shrunk"
    if conformance.toured is not None:
        of_all = conformance.toured.applied
        yield f"interrupted after {of_all.played:,} of {of_all.reachable:,} transitions"
    if kept is not None:
        yield _goes_on(kept)


def document(conformance: Conformance, plan: Plan) -> "documents.Transitions | None":
    """Return the JSON form of the numbers of played transitions, or None if the system under test did not reply."""
    toured, settings = conformance.toured, plan.settings
    if toured is None:
        return None
    bounds = {"replicas": settings.replicas, "records": settings.records, "epochs": settings.epochs}
    played: documents.Transitions = (
        bounds
        | fields_of(toured.applied)
        | {
            "refused": None if toured.refused is None else fields_of(toured.refused),
            "complete": toured.is_complete,
        }
    )
    return played


def to_be_written(size: Size) -> Iterator[str]:
    """Yield a line with the expected number and size of the files of test sequences. If they are large, add advice."""
    yield (
        f"to be written: {size.transitions:,} transitions up to the names of replicas, along {size.tours:,} tours of"
        f" {size.steps:,} steps, about {filesize.decimal(size.bytes)} in {size.files:,} files"
    )
    if size.bytes > _MUCH:
        yield "that is a lot: lower --records or --epochs to get less; Ctrl-C keeps the complete files"


def written(done: WrittenTours) -> str:
    """Return a line with the number and size of the files of test sequences that were written."""
    return (
        f"{done.transitions:,} transitions, {done.tours:,} tours, {done.steps:,} steps, {len(done.files):,} files,"
        f" {done.bytes:,} bytes"
    )


def _goes_on(kept: Path) -> str:
    return (
        f"The same command resumes from {kept}; remove that file to begin again, such as with another build of the"
        " system under test."
    )


def _verdict(conformance: Conformance, plan: Plan, of_all: Played) -> str:
    (protocol,) = plan.protocols
    within = f"{of_all.reachable:,} transitions reachable with {report.bounds_text(plan.settings)}"
    judged = f"checked by {plan.judged_by}"
    if conformance.conforms and of_all.is_complete:
        but = f", except {of_all.differing:,} that differ" if of_all.differing else ""
        return (
            f"The system under test conforms to {protocol.name} on all {within}{but}, each by one path to its state,"
            f" {judged}:"
        )
    verdict = "conforms" if conformance.conforms else "does NOT conform"
    return (
        f"The system under test {verdict} to {protocol.name}, {judged}: of {within}, {of_all.played:,} were played"
        f" ({of_all.played / max(of_all.reachable, 1):.1%}), each by one path to its state{_differ(of_all)}:"
    )


def _refused(of_refused: Played) -> str:
    return (
        f"{of_refused.played:,} of {of_refused.reachable:,} events that a state does not enable were sent there"
        f"{_differ(of_refused)}"
    )


def _differ(some: Played) -> str:
    parts = [f"; {some.differing:,} differ"] if some.differing else []
    parts += [f"; {some.behind:,} lie only behind differing ones, and were not played"] if some.behind else []
    return "".join(parts)
