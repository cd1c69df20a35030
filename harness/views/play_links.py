"""Link the results of commands to their positions in `play`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cluster.schedules.ends import broken_at
from epochfuzz.harness.documents.cluster_records import Ended
from epochfuzz.harness.links.play_link import LOCAL, play_link
from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.cluster.schedules.fuzzed import ClusterFinding
    from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
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


def to_difference(finding: "ConformanceFinding") -> str | None:
    """Return the address of the step after which a system under test differs from the model.

    None if the system received no event, or if the schedule is too long.
    """
    sent = finding.sighting.sent
    return play_link([finding.protocol], finding.trial.settings, sent, len(sent)) if sent else None


def to_cluster_finding(finding: "ClusterFinding", protocol: Protocol, settings: Configuration) -> str | None:
    """Return the address of the step of a finding on a cluster; None if the schedule is too long for `play`.

    `protocol` models the release. If the model does not break a property as the cluster did, the step is the last
    event.
    """
    step = _shown_at(finding.events, protocol, settings, finding.ended)
    return play_link([protocol], settings, finding.events, step)


def to_loss(case: Case, protocol: Protocol) -> str | None:
    """Return the address of the step at which a case loses a record under a protocol, or of its last event."""
    return to_case(case, [protocol.name], _shown_at(case.events, protocol, case.settings, Ended.LOST))


def _shown_at(events: bytes, protocol: Protocol, settings: Configuration, ended: Ended) -> int:
    step = broken_at(replay(events, protocol, settings), ended)
    return len(events) if step is None else step


def line(link: str | None) -> str:
    """Return the line that shows a link in a terminal or a log."""
    if link is None:
        return "play: the schedule is too long to step through; shorten it with `epochfuzz shrink`"
    return f"play: {link}{' (while `epochfuzz play` runs)' if link.startswith(LOCAL) else ''}"
