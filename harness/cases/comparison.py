"""Comparison with the corpus: which findings of a run are cases of it, which are not, and which cases it missed.

Whether a finding is a known bug of its protocol is another matter (search/expectations.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.engine.shrink.canonical import canonical
from epochfuzz.harness.findings.findings import Finding
from epochfuzz.harness.plain import fields_of
from epochfuzz.harness.witness.causes import Status
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.documents import parts, walks


@dataclass(frozen=True)
class Unseen:
    """A case expects a protocol to break a property, and no schedule of the run did."""

    case: str
    protocol: str
    property: str


@dataclass(frozen=True)
class Comparison:
    """`known` has, for each finding in turn, the id of the case that shows it, None where none in the corpus does."""

    known: tuple[str | None, ...]
    no_longer_seen: tuple[Unseen, ...]


def compare(
    findings: Sequence[Finding], protocols: Iterable[Protocol], settings: Configuration, corpus: Iterable[Case]
) -> Comparison:
    """Return what a run found, beside a corpus.

    Only cases of the same configuration, bounds aside, can show the same.
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
    """Return the findings that are not shown by a case of a corpus, and that no issue or KIP tells of
    where it is expected.
    """
    known = compare(findings, (), settings, corpus).known
    return [each for each, case in zip(findings, known, strict=True) if is_unreported(each) and case is None]


def is_unreported(finding: Finding) -> bool:
    """Whether a finding is unexpected, or only suspected: nobody but this project has told of it yet."""
    return finding.known_flaw is None or finding.causes.status is Status.SUSPECTED


def shows(case: Case, finding: Finding) -> bool:
    """Whether a case expects the finding's protocol to break its property, by the same schedule or by a variant."""
    expectation = case.expect.get(finding.protocol.name)
    if expectation is None or finding.property not in expectation.broken:
        return False
    wanted = properties.named(finding.property).bit
    schedule = canonical(case.events, parse_protocol(finding.protocol.name), case.settings, wanted)
    return schedule in (finding.reproducer.schedule, *finding.variants)


def without_bounds(settings: Configuration) -> dict[str, object]:
    """Return what of a configuration has to be the same for the same to be found: bounds only say how far to look."""
    bounds = ("records", "epochs")
    return {key: value for key, value in settings.changed().items() if key not in bounds}


def comparison_json(findings: Sequence[Finding], comparison: Comparison) -> "walks.Compared":
    """Return the JSON form: what is `new` to the corpus, what is `known` to it as which case, and what
    is no longer seen.
    """
    compared = list(zip(findings, comparison.known, strict=True))
    return {
        "new": [_pair(finding) for finding, case in compared if case is None],
        "known": [{**_pair(finding), "case": case} for finding, case in compared if case is not None],
        "no_longer_seen": [fields_of(each) for each in comparison.no_longer_seen],
    }


def comparison_lines(findings: Sequence[Finding], comparison: Comparison) -> Iterator[str]:
    """Lines for people."""
    for finding, case in zip(findings, comparison.known, strict=True):
        place = "not in the corpus" if case is None else f"in the corpus, as case {case}"
        yield f"{finding.protocol.name} breaks {finding.property}: {place}"
    for each in comparison.no_longer_seen:
        yield f"no longer seen: {each.protocol} breaks {each.property}, as case {each.case} expects"


def _pair(finding: Finding) -> "parts.Pair":
    return {"protocol": finding.protocol.name, "property": finding.property}
