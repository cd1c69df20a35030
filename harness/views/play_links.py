"""Link the results of commands to their positions in `play`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.links.play_link import LOCAL, play_link
from epochfuzz.harness.trace.replay import Run
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.findings.findings import Finding


def to_case(case: Case, protocols: Iterable[str], step: int = 0) -> str | None:
    """Return the address of a step of a case in `play`; None if the case is too long for `play`."""
    return play_link(map(parse_protocol, protocols), case.settings, case.events, step, case.id)


def to_break(runs: Sequence[Run], property_: str) -> str | None:
    """Return the address of the step at which the first of some runs breaks a property; None if it is too long."""
    first = runs[0]
    step = first.first_broken[property_] + properties.BY_NAME[property_].at_end  # the end is one step further
    return play_link((run.protocol for run in runs), first.settings, first.schedule, step)


def to_finding(finding: "Finding") -> str | None:
    """Return the address of the step at which a finding breaks its property; None if it is too long."""
    return to_break(finding.witness.story(finding.protocol, finding.property).runs, finding.property)


def line(link: str | None) -> str:
    """Return the line that shows a link in a terminal or a log."""
    if link is None:
        return "play: the schedule is too long to step through; shorten it with `epochfuzz shrink`"
    return f"play: {link}{' (while `epochfuzz play` runs)' if link.startswith(LOCAL) else ''}"
