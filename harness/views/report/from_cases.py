"""Build the report of replayed case files: the result of each case under each protocol, and whether it was expected."""

import shlex
from collections.abc import Sequence

from epochfuzz.harness.cases.case import dump_case
from epochfuzz.harness.cases.verdict import JudgedCase, Verdict
from epochfuzz.harness.reference import explain
from epochfuzz.harness.trace.story import most_contrasting, story_of
from epochfuzz.harness.views import play_links
from epochfuzz.harness.views.report.page import ASIDE, BROKEN, HELD, KNOWN, Exhibit, ReportPage, TableCell, TableRow
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.state import initial

_REMARK = "as expected"


def page(judged_cases: Sequence[JudgedCase]) -> ReportPage:
    """Return the content of the report of replayed cases."""
    protocols = tuple(dict.fromkeys(name for judged in judged_cases for name in judged.verdicts))
    failed = sum(not judged.as_expected for judged in judged_cases)
    verdict = "all as expected" if failed == 0 else f"{failed} NOT as expected"
    one = judged_cases[0].case if len(judged_cases) == 1 else None
    applying = properties.applying(
        *(
            initial(parse_protocol(name), judged.case.settings)
            for judged in judged_cases
            for name in judged.case.protocols
        )
    )
    return ReportPage(
        title=one.id if one else f"{len(judged_cases)} cases",
        summary=f"{'1 case' if one else f'{len(judged_cases)} cases'}, {verdict}",
        facts=tuple((key, one.settings.words()[key]) for key in one.settings.changed()) if one else (),
        protocols=protocols,
        properties=tuple(_property(name, judged_cases, protocols) for name in applying),
        exhibits=tuple(_exhibit(judged) for judged in judged_cases),
        commands=(shlex.join(["epochfuzz", "replay", *(str(judged.case.path) for judged in judged_cases)]),),
        cases=tuple(_case(judged, protocols) for judged in judged_cases),
    )


def _property(name: str, judged_cases: Sequence[JudgedCase], protocols: Sequence[str]) -> TableRow:
    means = explain.glossary()[name].summary
    return TableRow(name, means, tuple(_property_cell(name, judged_cases, protocol) for protocol in protocols))


def _property_cell(name: str, judged_cases: Sequence[JudgedCase], protocol: str) -> TableCell:
    asked = [judged for judged in judged_cases if protocol in judged.verdicts]
    broken = [each for each in asked if name in each.verdicts[protocol].run.broken]
    if not broken:
        return TableCell(HELD, "held")
    shortest = min(broken, key=lambda each: each.verdicts[protocol].run.first_broken[name])
    at = shortest.verdicts[protocol].run.first_broken[name]
    text = f"at step {at}" if len(judged_cases) == 1 else f"in {len(broken)} of {len(asked)}"
    if all(each.as_expected for each in broken):
        return TableCell(KNOWN, f"{text}, {_REMARK}", shortest.case.id)
    return TableCell(BROKEN, f"{text}, NOT as expected", shortest.case.id)


def _case(judged: JudgedCase, protocols: Sequence[str]) -> TableRow:
    cells = tuple(_case_cell(judged, judged.verdicts.get(protocol)) for protocol in protocols)
    return TableRow(judged.case.id, "", cells)


def _case_cell(judged: JudgedCase, verdict: Verdict | None) -> TableCell:
    if verdict is None:
        return TableCell(ASIDE, "-")
    run = verdict.run
    text = f"broken at step {run.at}" if run.broken else "loss is permitted" if run.permitted else "held"
    if verdict.complaints:
        return TableCell(BROKEN, f"{text}: NOT as expected", judged.case.id)
    return (
        TableCell(KNOWN, f"{text}, {_REMARK}", judged.case.id) if run.broken else TableCell(HELD, text, judged.case.id)
    )


def _exhibit(judged: JudgedCase) -> Exhibit:
    case = judged.case
    complaints = [
        f"Not as expected under {name}: {complaint}."
        for name, verdict in judged.verdicts.items()
        for complaint in verdict.complaints
    ]
    story = story_of(*most_contrasting([verdict.run for verdict in judged.verdicts.values()]))
    return Exhibit(
        id=case.id,
        title=case.id,
        kind=BROKEN if complaints else HELD,
        remark="" if complaints else _REMARK,
        notes=(*complaints, case.why),
        story=story,
        case=dump_case(case),
        file=f"{case.id}.yaml",
        play=play_links.to_case(case, judged.verdicts),
    )
