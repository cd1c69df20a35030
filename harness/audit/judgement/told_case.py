"""Turn a finding into a case: the schedule that its lines describe, replayed in the model of the brokers' release.

A log shows the leaders, the followers with their log end offsets, and the truncations. If these steps need other steps
that no line shows, this module adds them, and the case names them. Brokers become replicas A, B and C. Records with the
same fate become a single record.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from epochfuzz.harness.audit.judgement.findings import PartitionFinding, What
from epochfuzz.harness.audit.lines.events import Event, MessageKind
from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.found_case import case_of_witness
from epochfuzz.harness.trace.causes import causes
from epochfuzz.harness.trace.witness import Witness
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol
from epochfuzz.model.kafka.vocabulary.versions import UnknownVersion, version_of

if TYPE_CHECKING:
    from epochfuzz.harness.documents import evidence

LOSS = "no-committed-loss"

_VERSION = re.compile(r"\d+\.\d+\.\d+(?:\.\d+)?")
_MOST = 100  # number of findings that become cases
_BESIDE = "kip-966"  # the newest repaired design


@dataclass(frozen=True)
class _Step:
    """One or several events of the schedule, and the log line that shows them, or None if no line does."""

    events: tuple[str, ...]
    line: Event | None


@dataclass(frozen=True)
class ToldCase:
    """The case of a finding. `at` is the number of the event that loses the record in the model, None if none does."""

    case: Case
    protocol: str
    at: int | None
    because: str  # a sentence about the cause

    @property
    def sentence(self) -> str:
        """The result of the replay in the model, in words."""
        if self.at is None:
            return (
                f"Replayed under {self.protocol}, the events of these lines lose no record in the model, because the"
                " lines show only some of the events. The finding stands."
            )
        return f"Replayed under {self.protocol}, this loses the record by event {self.at}. {self.because}"

    def plain(self) -> "evidence.Told":
        """Return the case as fields of the document of `--json`."""
        return {
            "case": self.case.id,
            "protocol": self.protocol,
            "property": LOSS,
            "broken_at": self.at,
            "because": self.because,
        }


def protocol_of(releases: Iterable[str]) -> Protocol | None:
    """Return the protocol of the newest known release that the logs name, or None if they name no known release."""
    known = []
    for release in releases:
        found = _VERSION.match(release)  # a vendor's build may add a suffix
        try:
            known.append(version_of(f"kafka-{found[0]}" if found else ""))
        except UnknownVersion:
            continue
    newest = max(known, key=lambda version: [int(number) for number in version.split(".")], default=None)
    return None if newest is None else parse_protocol(f"kafka-{newest}")


def told_cases(findings: Iterable[PartitionFinding], releases: Iterable[str]) -> dict[PartitionFinding, ToldCase]:
    """Return the cases of the first _MOST findings by finding, or an empty dict if no line names a known release."""
    protocol = protocol_of(releases)
    if protocol is None:
        return {}
    cases = ((finding, told_case(finding, protocol)) for finding in islice(findings, _MOST))
    return {finding: case for finding, case in cases if case is not None}


def told_case(finding: PartitionFinding, protocol: Protocol) -> ToldCase | None:
    """Return a case: the schedule that the lines of a finding describe, replayed under a protocol.

    Returns None for kinds of findings whose lines don't describe a schedule.
    """
    if finding.what == What.RE_ELECTED_LEADER:
        steps, settings = _re_elected(finding), Configuration(replicas=3, records=1, epochs=4)
    elif finding.what == What.UNCLEAN_ELECTION and _start_of(finding) is not None:
        steps = _unclean(finding)
        settings = Configuration(replicas=2, records=1, epochs=4, unclean_leader_election=True)
    else:
        return None
    events = bytes(parse_event(text) for step in steps for text in step.events)
    witness = Witness(events, settings, (protocol, parse_protocol(_BESIDE)))
    applied = bytes(step.event for step in witness.runs[protocol.name].steps if step.applied)
    witness = Witness(applied, settings, witness.protocols)
    at = witness.runs[protocol.name].first_broken.get(LOSS)
    because = causes(applied, protocol, settings, LOSS).sentence if at is not None else ""
    found = {"protocol": protocol.name, "property": LOSS}
    case = case_of_witness(
        witness, f"{finding.name} {finding.what} {finding.leader_epoch}", _why(finding, steps), found
    )
    return ToldCase(case, protocol.name, at, because)


def _re_elected(finding: PartitionFinding) -> list[_Step]:
    """Return the steps of a re-election: A leads, then C leads and B truncates its log, then A is elected again."""
    led, followed, truncation, leader, *later = finding.evidence
    return [
        _Step(("produce A",), led),
        _Step(("fetch B", "receive B"), followed),  # B followed from the end of its log, which is after the record
        _Step(("fetch B",), None),  # from this fetch, A learns that B has the record
        _Step(("elect C", "notify B", "notify C"), followed),
        _Step(("fetch B", "receive B"), truncation),
        _Step(("expire C",), None),  # C is not in the ISR of the next leader
        _Step(("elect A", "catch_up A"), leader),  # A learns of both elections at once: its last epoch is two lower
        *(_Step(("elect B", "catch_up B"), line) for line in later[:1]),
    ]


def _unclean(finding: PartitionFinding) -> list[_Step]:
    """Return the steps of an unclean election: A, alone in the ISR, dies, and the controller elects B."""
    said, *_ = finding.evidence
    return [
        _Step(("produce A", "shrink B", "alter A", "altered A"), None),  # committed by A alone
        _Step(("crash A", "expire A"), None),
        _Step(("elect B",), said),
        _Step(("catch_up B",), _start_of(finding)),
    ]


def _start_of(finding: PartitionFinding) -> Event | None:
    """Return the first line of evidence that says that its broker leads, or None."""
    return next((event for event in finding.evidence if event.kind == MessageKind.LEADER), None)


def _why(finding: PartitionFinding, steps: Sequence[_Step]) -> str:
    told = "; ".join(f"{', '.join(step.events)}: {_place(step.line)}" for step in steps)
    return f"Broker logs of {finding.name} show {finding.what}. {finding.told} By line: {told}."


def _place(line: Event | None) -> str:
    return "no line tells" if line is None else f"{line.file}:{line.line}"
