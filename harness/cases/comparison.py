"""Compare the findings of a run with a corpus of cases: known and new findings, and missed violations.

trace/causes.py answers another question: which known bugs cause a finding.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.documents.records import Unseen
from epochfuzz.harness.engine.shrink.canonical import canonical
from epochfuzz.harness.findings.findings import Finding
from epochfuzz.harness.text.plain import fields_of
from epochfuzz.harness.trace.causes import CauseStatus
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.documents import parts, walks


@dataclass(frozen=True)
class Comparison:
    """The findings of a run, compared with a corpus of cases.

    `known` has an entry for each finding, in the order of the findings: the id of the case that shows the finding, or
    None if no case does. `no_longer_seen` lists the violations that a case expects but that the run did not find.
    """

    known: tuple[str | None, ...]
    no_longer_seen: tuple[Unseen, ...]


def compare(
    findings: Sequence[Finding], protocols: Iterable[Protocol], settings: Configuration, corpus: Iterable[Case]
) -> Comparison:
    """Compare the findings of a run under some protocols with the cases of a corpus.

    The function ignores a case whose settings differ from `settings`, because such a case cannot show the findings.
    Only the bounds `records` and `epochs` may differ.
    """
    alike = [case for case in corpus if without_bounds(case.settings) == without_bounds(settings)]
    known = tuple(next((case.id for case in alike if shows(case, finding)), None) for finding in findings)
    seen = {(finding.protocol.name, finding.property) for finding in findings}
    names = {protocol.name for protocol in protocols}
    expected = [
        Unseen(case.id, protocol, broken)
        for case in alike
        for protocol, expectation in case.expect.items()
        for broken in expectation.broken
        if protocol in names
    ]
    return Comparison(known, tuple(each for each in expected if (each.protocol, each.property) not in seen))


def news(findings: Sequence[Finding], settings: Configuration, corpus: Iterable[Case]) -> list[Finding]:
    """Return the findings that no case of a corpus shows and that no issue or KIP describes."""
    known = compare(findings, (), settings, corpus).known
    return [each for each, case in zip(findings, known, strict=True) if is_unreported(each) and case is None]


def is_unreported(finding: Finding) -> bool:
    """Return whether no issue or KIP describes the bug that a finding shows."""
    return finding.known_flaw is None or finding.causes.status is CauseStatus.SUSPECTED


def shows(case: Case, finding: Finding) -> bool:
    """Return whether a case shows a finding.

    The case must expect the finding's violation. The canonical form of the case's schedule must be the schedule of the
    finding or one of `finding.variants`.
    """
    expectation = case.expect.get(finding.protocol.name)
    if expectation is None or finding.property not in expectation.broken:
        return False
    wanted = properties.named(finding.property).bit
    schedule = canonical(case.events, parse_protocol(finding.protocol.name), case.settings, wanted)
    return schedule in (finding.reproducer.schedule, *finding.variants)


def without_bounds(settings: Configuration) -> dict[str, object]:
    """Return `replicas` and each setting that differs from its default, without the bounds `records` and `epochs`."""
    bounds = ("records", "epochs")
    return {key: value for key, value in settings.changed().items() if key not in bounds}


def comparison_json(findings: Sequence[Finding], comparison: Comparison) -> "walks.Compared":
    """Return the comparison as plain data for JSON (the document Compared in harness/documents/walks.py)."""
    compared = list(zip(findings, comparison.known, strict=True))
    return {
        "new": [_pair(finding) for finding, case in compared if case is None],
        "known": [{**_pair(finding), "case": case} for finding, case in compared if case is not None],
        "no_longer_seen": [fields_of(each) for each in comparison.no_longer_seen],
    }


def comparison_lines(findings: Sequence[Finding], comparison: Comparison) -> Iterator[str]:
    """Yield the comparison as text: a line for each finding, and for each violation that the run missed."""
    for finding, case in zip(findings, comparison.known, strict=True):
        place = "not in the corpus" if case is None else f"in the corpus, as case {case}"
        yield f"{finding.protocol.name} breaks {finding.property}: {place}"
    for each in comparison.no_longer_seen:
        yield f"no longer seen: {each.protocol} breaks {each.property}, as case {each.case} expects"


def _pair(finding: Finding) -> "parts.Pair":
    return {"protocol": finding.protocol.name, "property": finding.property}
