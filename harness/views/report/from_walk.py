"""Build the report of a random run, local or on Spark: a schedule for each violation, and the coverage."""

from collections.abc import Mapping, Sequence

from epochfuzz.harness.cases.case import dump_case
from epochfuzz.harness.cases.found_case import case_for
from epochfuzz.harness.engine.explore import estimate
from epochfuzz.harness.engine.walk.walking import Walked
from epochfuzz.harness.findings import goals
from epochfuzz.harness.findings.findings import Finding, ScheduleEngine
from epochfuzz.harness.reference import explain
from epochfuzz.harness.trace.scenes import as_sentence
from epochfuzz.harness.views import play_links, summary
from epochfuzz.harness.views.report.page import (
    ASIDE,
    BROKEN,
    HELD,
    KNOWN,
    CoverageSection,
    Exhibit,
    ReportPage,
    TableCell,
    TableRow,
)
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary import goals as model_goals
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.state import initial


def page(
    walker: ScheduleEngine,
    walked: Walked,
    findings: Sequence[Finding],
    reproduce: str,
    unreached: Mapping[str, Sequence[str]] | None = None,
    about: Mapping[str, str] | None = None,
) -> ReportPage:
    """Return the content of the report of a random run. `reproduce` is the command that runs the same schedules again.

    `unreached` maps each protocol to the situations (for coverage) that a search reached and the run did not reach.
    `about` has further facts about the run.
    """
    settings = walker.settings
    together = summary.by_reproducer(findings)
    shown = {(each.protocol, each.property): _id(same[0]) for same in together for each in same}
    unexpected = sum(finding.known_flaw is None for finding in findings)
    found = f"{len(findings)} {'property' if len(findings) == 1 else 'properties'} broken"
    if findings:
        found += f", {unexpected or 'none'} of them unexpected"
    applying = properties.applying(*(initial(protocol, settings) for protocol in walker.protocols))
    return ReportPage(
        title=" · ".join(protocol.name for protocol in walker.protocols),
        summary=f"{summary.pace(walked)}; {found}",
        facts=(
            *(about or {}).items(),
            ("seed", str(walker.seed)),
            ("schedules", f"{walked.tally.schedules:,}"),
            *settings.words().items(),
        ),
        protocols=tuple(protocol.name for protocol in walker.protocols),
        properties=tuple(_property(name, walker, findings, shown) for name in applying),
        exhibits=tuple(sorted((_exhibit(same, walker) for same in together), key=lambda each: each.kind != BROKEN)),
        commands=(reproduce,),
        goals=tuple(_goals(walker, walked)),
        coverage=_coverage(walker, walked, unreached or {}),
    )


def _coverage(walker: ScheduleEngine, walked: Walked, unreached: Mapping[str, Sequence[str]]) -> CoverageSection | None:
    """Return the coverage section, or None if the run (such as a run of state machines) did not record situations."""
    tally = walked.tally
    if not any(len(met.situations) for met in tally.met):
        return None
    return CoverageSection(
        met={each.name: len(met.situations) for each, met in zip(walker.protocols, tally.met, strict=True)},
        unreached=unreached,
        curve=estimate.discovery_curve(tally),
        estimate=estimate.something_new(tally),
    )


def _property(
    name: str, walker: ScheduleEngine, findings: Sequence[Finding], shown: Mapping[tuple[Protocol, str], str]
) -> TableRow:
    found = {finding.protocol: finding for finding in findings if finding.property == name}
    if name in properties.permitted(walker.settings):
        cells = [TableCell(ASIDE, "not promised")] * len(walker.protocols)
    else:
        cells = [_property_cell(found.get(each), shown.get((each, name))) for each in walker.protocols]
    return TableRow(name, explain.glossary()[name].summary, tuple(cells))


def _property_cell(finding: Finding | None, exhibit: str | None) -> TableCell:
    if finding is None:
        return TableCell(HELD, "not broken")
    proof = "minimal" if finding.reproducer.certified_minimal else "not proven minimal"
    text = f"{len(finding.reproducer.schedule)} events, {proof}, seen {finding.seen:,} times"
    if finding.known_flaw is None:
        return TableCell(BROKEN, text, exhibit)
    return TableCell(KNOWN, f"{text}, {finding.causes.status}", exhibit)


def _goals(walker: ScheduleEngine, walked: Walked) -> list[TableRow]:
    asked = {protocol: goals.asked_for(protocol, walker.settings) for protocol in walker.protocols}
    counts = summary.goals_json(walker.protocols, walked.tally.goals)
    rows = []
    for name in model_goals.NAMES:
        cells = [_goal(counts[protocol.name][name], name in asked[protocol]) for protocol in walker.protocols]
        if any(cell.kind != ASIDE for cell in cells):
            rows.append(TableRow(name, explain.glossary()[name].summary, tuple(cells)))
    return rows


def _goal(count: int, asked: bool) -> TableCell:
    if count:
        return TableCell(HELD, f"{count:,}")
    return TableCell(BROKEN, "never") if asked else TableCell(ASIDE, "-")


def _exhibit(same: Sequence[Finding], walker: ScheduleEngine) -> Exhibit:
    """Return the exhibit of findings with a common schedule: the drawing, the case file and the replay command."""
    first = same[0]
    case = case_for(first, walker.seed, "A walk")
    story = first.witness.story(first.protocol, first.property)
    broken = " and ".join(finding.property for finding in same)
    told = dict.fromkeys(finding.causes.sentence for finding in same)
    return Exhibit(
        id=_id(first),
        title=f"{first.protocol.name} breaks {broken} in {len(first.witness.schedule)} events",
        kind=BROKEN if any(finding.known_flaw is None for finding in same) else KNOWN,
        remark="" if any(finding.known_flaw is None for finding in same) else str(first.causes.status),
        notes=(as_sentence([summary.proof(first)]), *told),
        story=story,
        case=dump_case(case),
        file=f"{case.id}.yaml",
        play=play_links.to_finding(first),
    )


def _id(finding: Finding) -> str:
    return f"{finding.protocol.name}-{finding.property}".replace(":", "-").replace("=", "-").replace(",", "-")
