"""News: what a run found, beside the corpus: what is new, what a case tells already, what is no longer seen."""

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
class News:
    """`known` has, for each finding in turn, the id of the case that tells it, None where it is new."""

    known: tuple[str | None, ...]
    no_longer_seen: tuple[Unseen, ...]


def compare(
    findings: Sequence[Finding], protocols: Iterable[Protocol], settings: Configuration, corpus: Iterable[Case]
) -> News:
    """The news of a run. Only cases of the same configuration, bounds aside, can tell the same."""
    alike = [case for case in corpus if _bare(case.settings) == _bare(settings)]
    known = tuple(next((case.id for case in alike if tells(case, finding)), None) for finding in findings)
    seen = {(finding.protocol.name, finding.property) for finding in findings}
    names = {protocol.name for protocol in protocols}
    expected = [
        Unseen(case.id, protocol, broken)
        for case in alike
        for protocol, expectation in case.expect.items()
        for broken in expectation.broken
        if protocol in names
    ]
    return News(known, tuple(each for each in expected if (each.protocol, each.property) not in seen))


def tells(case: Case, finding: Finding) -> bool:
    """Whether a case expects the finding's protocol to break its property, by the same schedule or by a variant."""
    expectation = case.expect.get(finding.protocol.name)
    if expectation is None or finding.property not in expectation.broken:
        return False
    wanted = properties.named(finding.property).bit
    told = canonical(case.events, parse_protocol(finding.protocol.name), case.settings, wanted)
    return told in (finding.reproducer.schedule, *finding.variants)


def _bare(settings: Configuration) -> dict[str, object]:
    bounds = ("records", "epochs")
    return {key: value for key, value in settings.changed().items() if key not in bounds}


def news_json(findings: Sequence[Finding], news: News) -> dict[str, object]:
    """The JSON form: what is new, what is known from which case, and what is no longer seen."""
    told = list(zip(findings, news.known, strict=True))
    return {
        "new": [_pair(finding) for finding, case in told if case is None],
        "known": [_pair(finding) | {"case": case} for finding, case in told if case is not None],
        "no_longer_seen": [asdict(each) for each in news.no_longer_seen],
    }


def news_lines(findings: Sequence[Finding], news: News) -> Iterator[str]:
    """Lines for people."""
    for finding, case in zip(findings, news.known, strict=True):
        told = "new: no case of the corpus tells it" if case is None else f"known: told by {case}"
        yield f"{finding.protocol.name} breaks {finding.property}: {told}"
    for each in news.no_longer_seen:
        yield f"no longer seen: {each.protocol} breaks {each.property}, as {each.case} tells"


def _pair(finding: Finding) -> dict[str, str]:
    return {"protocol": finding.protocol.name, "property": finding.property}
