"""Comparison with the corpus: which findings of a run are new, which are cases already, and which cases it missed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.search.canonical import canonical
from epochfuzz.harness.search.findings import Finding
from epochfuzz.model import properties
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.protocols import Protocol, parse_protocol


@dataclass(frozen=True)
class Unseen:
    """A case expects a protocol to break a property, and no schedule of the run did."""

    case: str
    protocol: str
    property: str


@dataclass(frozen=True)
class Comparison:
    """`known` has, for each finding in turn, the id of the case that shows it, None where it is new."""

    known: tuple[str | None, ...]
    no_longer_seen: tuple[Unseen, ...]


def compare(
    findings: Sequence[Finding], protocols: Iterable[Protocol], settings: Configuration, corpus: Iterable[Case]
) -> Comparison:
    """What a run found, beside a corpus. Only cases of the same configuration, bounds aside, can show the same."""
    alike = [case for case in corpus if _bare(case.settings) == _bare(settings)]
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
    """The findings that are neither a known flaw of their protocol, nor shown by a case of a corpus."""
    known = compare(findings, (), settings, corpus).known
    return [each for each, case in zip(findings, known, strict=True) if each.known_flaw is None and case is None]


def shows(case: Case, finding: Finding) -> bool:
    """Whether a case expects the finding's protocol to break its property, by the same schedule or by a variant."""
    expectation = case.expect.get(finding.protocol.name)
    if expectation is None or finding.property not in expectation.broken:
        return False
    wanted = properties.named(finding.property).bit
    schedule = canonical(case.events, parse_protocol(finding.protocol.name), case.settings, wanted)
    return schedule in (finding.reproducer.schedule, *finding.variants)


def _bare(settings: Configuration) -> dict[str, object]:
    bounds = ("records", "epochs")
    return {key: value for key, value in settings.changed().items() if key not in bounds}


def comparison_json(findings: Sequence[Finding], comparison: Comparison) -> dict[str, object]:
    """The JSON form: what is new, what is known from which case, and what is no longer seen."""
    compared = list(zip(findings, comparison.known, strict=True))
    return {
        "new": [_pair(finding) for finding, case in compared if case is None],
        "known": [_pair(finding) | {"case": case} for finding, case in compared if case is not None],
        "no_longer_seen": [asdict(each) for each in comparison.no_longer_seen],
    }


def comparison_lines(findings: Sequence[Finding], comparison: Comparison) -> Iterator[str]:
    """Lines for people."""
    for finding, case in zip(findings, comparison.known, strict=True):
        verdict = "new: no case of the corpus shows it" if case is None else f"known: case {case} shows it"
        yield f"{finding.protocol.name} breaks {finding.property}: {verdict}"
    for each in comparison.no_longer_seen:
        yield f"no longer seen: {each.protocol} breaks {each.property}, as case {each.case} expects"


def _pair(finding: Finding) -> dict[str, str]:
    return {"protocol": finding.protocol.name, "property": finding.property}
