"""Link the results of commands to their positions in `play`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.links.play_link import LOCAL, play_link
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
    from epochfuzz.harness.findings.findings import Finding
    from epochfuzz.harness.trace.replay import Run


def to_case(case: Case, protocols: Iterable[str], step: int = 0) -> str | None:
    """Return the address, in `play`, of a step of a case. None if the case is too long for an address."""
    return play_link(map(parse_protocol, protocols), case.settings, case.events, step, case.id)


def to_break(runs: "Sequence[Run]", property_: str) -> str | None:
    """Return the address, in `play`, of the step where the first run breaks a property.

    `runs` are replays of one schedule. Returns None if the schedule is too long for `play`.
    """
    first = runs[0]
    return play_link((run.protocol for run in runs), first.settings, first.schedule, first.shown_at(property_))


def to_finding(finding: "Finding") -> str | None:
    """Return the address, in `play`, of the step that breaks a finding's property. None if the schedule is too long."""
    return to_break(finding.witness.story(finding.protocol, finding.property).runs, finding.property)


def to_difference(finding: "ConformanceFinding") -> str | None:
    """Return the address, in `play`, of the first step that differs between a system under test and the model.

    Returns None if the system received no event, or if the schedule is too long.
    """
    sent = finding.sighting.sent
    return play_link([finding.protocol], finding.trial.settings, sent, len(sent)) if sent else None


def show(out: Console, link: str | None) -> None:
    """Print the line that shows a link to `play`, or the line that says why there is no link."""
    out.print(line(link), markup=False, highlight=False, soft_wrap=True)


def line(link: str | None) -> str:
    """Return a line that shows a link to `play`. For None, the line says that the schedule is too long."""
    if link is None:
        return "play: the schedule is too long to step through; shorten it with `epochfuzz shrink`"
    return f"play: {link}{' (while `epochfuzz play` runs)' if link.startswith(LOCAL) else ''}"
