"""The report of case files: what each does to each protocol, and whether that is what it expects."""

import shlex
from collections.abc import Sequence

from epochfuzz.harness.cases.case import dump_case
from epochfuzz.harness.cases.judgement import Judgement, Verdict
from epochfuzz.harness.reference import explain
from epochfuzz.harness.views.report.page import ASIDE, BROKEN, HELD, KNOWN, Cell, Exhibit, Page, Row
from epochfuzz.harness.witness.story import most_telling, tell
from epochfuzz.model.properties import NAMES


def page(judgements: Sequence[Judgement]) -> Page:
    """The report of cases that were judged."""
    protocols = tuple(dict.fromkeys(name for judgement in judgements for name in judgement.verdicts))
    failed = sum(not judgement.as_expected for judgement in judgements)
    verdict = "all as expected" if failed == 0 else f"{failed} NOT as expected"
    one = judgements[0].case if len(judgements) == 1 else None
    return Page(
        title=one.id if one else f"{len(judgements)} cases",
        summary=f"{'1 case' if one else f'{len(judgements)} cases'}, {verdict}",
        facts=tuple((key, one.settings.words()[key]) for key in one.settings.changed()) if one else (),
        protocols=protocols,
        properties=tuple(_property(name, judgements, protocols) for name in NAMES),
        exhibits=tuple(_exhibit(judgement) for judgement in judgements),
        commands=(shlex.join(["epochfuzz", "replay", *(str(judgement.case.path) for judgement in judgements)]),),
        cases=tuple(_case(judgement, protocols) for judgement in judgements),
    )


def _property(name: str, judgements: Sequence[Judgement], protocols: Sequence[str]) -> Row:
    means = explain.glossary()[name].summary
    return Row(name, means, tuple(_property_cell(name, judgements, protocol) for protocol in protocols))


def _property_cell(name: str, judgements: Sequence[Judgement], protocol: str) -> Cell:
    asked = [judgement for judgement in judgements if protocol in judgement.verdicts]
    broken = [each for each in asked if name in each.verdicts[protocol].run.broken]
    if not broken:
        return Cell(HELD, "held")
    shortest = min(broken, key=lambda each: each.verdicts[protocol].run.first_broken[name])
    at = shortest.verdicts[protocol].run.first_broken[name]
    text = f"at step {at}" if len(judgements) == 1 else f"in {len(broken)} of {len(asked)}"
    expected = all(each.as_expected for each in broken)
    return Cell(KNOWN if expected else BROKEN, text, shortest.case.id)


def _case(judgement: Judgement, protocols: Sequence[str]) -> Row:
    cells = tuple(_case_cell(judgement, judgement.verdicts.get(protocol)) for protocol in protocols)
    return Row(judgement.case.id, "", cells)


def _case_cell(judgement: Judgement, verdict: Verdict | None) -> Cell:
    if verdict is None:
        return Cell(ASIDE, "-")
    run = verdict.run
    text = f"broken at step {run.at}" if run.broken else "loss is permitted" if run.permitted else "held"
    if verdict.complaints:
        return Cell(BROKEN, f"{text}: NOT as expected", judgement.case.id)
    return Cell(KNOWN if run.broken else HELD, text, judgement.case.id)


def _exhibit(judgement: Judgement) -> Exhibit:
    case = judgement.case
    complaints = [
        f"Not as expected under {name}: {complaint}."
        for name, verdict in judgement.verdicts.items()
        for complaint in verdict.complaints
    ]
    story = tell(*most_telling([verdict.run for verdict in judgement.verdicts.values()]))
    names = [word for run in story.runs for word in ("--protocol", run.protocol.name)]
    return Exhibit(
        id=case.id,
        title=case.id,
        kind=BROKEN if complaints else HELD,
        notes=(*complaints, case.why),
        story=story,
        command=shlex.join(["epochfuzz", "replay", str(case.path), *names, "--trace"]),
        case=dump_case(case),
        file=f"{case.id}.yaml",
    )
