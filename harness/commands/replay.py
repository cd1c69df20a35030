"""`epochfuzz replay`: replay case files, and check their expectations."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from epochfuzz.harness.cases.case import Case, dump_case
from epochfuzz.harness.cases.case_yaml import STANDARD_INPUT
from epochfuzz.harness.cases.corpus import CorpusError, load_corpus
from epochfuzz.harness.cases.verdict import JudgedCase, Verdict, judge, rewritten
from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.cases import exit_code, mistakes_as_bad_input, protocols_for
from epochfuzz.harness.cli.drawing import Format, draw, refuse_too_long
from epochfuzz.harness.cli.environment import github
from epochfuzz.harness.cli.files import FileKind, check_writable, rewrite_file, write_file
from epochfuzz.harness.cli.output import BadInput, Exit, console, print_json, print_table
from epochfuzz.harness.cli.rerun import replay_by_subject
from epochfuzz.harness.trace.refusal import why_not
from epochfuzz.harness.trace.replay import Run
from epochfuzz.harness.views import play_links
from epochfuzz.model.kafka.vocabulary.events import event_text
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.documents import cases as documents


Cases = Annotated[
    list[Path],
    typer.Argument(help="Case files, directories of them, or ids such as m1-loss; - for standard input."),
]
Under = Annotated[
    list[str] | None,
    options.protocol_option(
        "--protocol",
        "-p",
        help="Replay under these protocols instead of the protocols in the case.",
    ),
]
Trace = Annotated[bool, typer.Option("--trace", help="Show every step as a timeline.")]
Drawn = Annotated[
    Format | None,
    typer.Option("--format", help="Write one case in this format. Drawings show the two protocols that differ most."),
]
Out = Annotated[Path | None, typer.Option("--out", help="The file for --format; stdout if left out.")]
Rewrite = Annotated[bool, typer.Option("--rewrite", help="Replace the expected results in the files with new results.")]
OnSubject = Annotated[
    str | None,
    typer.Option("--subject", help="Compare the model with the adapter that this command starts."),
]


def replay(
    context: typer.Context,
    case: Cases,
    protocol: Under = None,
    model: options.OwnModel = None,
    trace: Trace = False,
    format_: Drawn = None,
    file: Out = None,
    rewrite: Rewrite = False,
    subject: OnSubject = None,
    json: options.Json = False,
) -> int:
    """Replay case files, and check whether each protocol gives the results that the case expects.

    Examples:

    - `epochfuzz replay m1-loss --trace`
    - `epochfuzz replay corpus --json`
    - `epochfuzz replay corpus/documents/m1-loss.yaml --protocol kip-320`
    - `epochfuzz replay m1-loss --format svg --out m1-loss.svg`
    - `epochfuzz replay m1-loss --protocol hw --format tla --out m1_loss.tla`
    - `epochfuzz replay m1-loss --protocol hw --format itf --out m1-loss.itf.json`
    - `epochfuzz replay corpus --protocol kip-320 --subject "python -m tests.conform.subject"`
    - `epochfuzz replay short.yaml --model counter:COUNTER --trace`
    """
    if model is not None:
        return _own(context, model, case, protocol, trace=trace, json=json)
    _refuse_what_excludes_another(context)
    out = console(json or (format_ is not None and file is None))
    with mistakes_as_bad_input():
        cases, refused = _load(case)
        if rewrite:
            cases = _rewrite(cases)
        if not cases:
            raise BadInput(f"no case files (*.yaml) under {', '.join(map(str, case))}")
        if subject is not None:
            ended = replay_by_subject(subject, cases, protocol, json=json)
            if refused is not None:
                raise refused
            return ended
        judged_cases = [judge(each, protocols_for(each, protocol)) for each in cases]
    if format_ is not None:
        _draw(judged_cases, format_, file)
    _print_verdicts(out, judged_cases, trace=trace)
    _print_links(out, judged_cases)
    github.annotate_replay(out, judged_cases)
    if json:
        document: documents.Replay = {"cases": [_json(judged) for judged in judged_cases]}
        print_json(document)
    if refused is not None:
        raise BadInput(str(refused))
    for case_id in (without_effect := _without_effect(judged_cases)):
        out.print(f"{case_id}: no event was enabled, so the case shows nothing", markup=False)
    return exit_code(judged_cases) or (Exit.GOAL_UNMET if without_effect else Exit.AS_EXPECTED)


def _refuse_what_excludes_another(context: typer.Context) -> None:
    """Raise BadInput for options that can't be combined, and for a file of --out that can't be written."""
    named = context.params
    file, format_ = named["file"], named["format_"]
    if file is not None and format_ is None:
        raise BadInput("--out needs --format")
    if file is not None and format_ is not None:
        check_writable("--out", Path(file), FileKind[Format(format_).name])
    if named["json"] and format_ is not None and file is None:
        raise BadInput("--json and --format both write to stdout; name a file for the drawing with --out")
    if named["subject"] is not None and (named["trace"] or format_ is not None or named["rewrite"]):
        raise BadInput("--subject can't be combined with --trace, --format or --rewrite")
    if named["rewrite"] and STANDARD_INPUT in map(str, named["case"]):
        raise BadInput("--rewrite: standard input (-) is not a file; name a file")


def _rewrite(cases: list[Case]) -> list[Case]:
    """Rewrite case files so that they expect the current results. Returns the new cases. Raises BadInput."""
    new = [rewritten(each) for each in cases]
    for each in new:
        assert each.path is not None  # load_corpus sets the path
        if not each.path.exists():
            raise BadInput(f"{each.path}: a bundled case cannot be rewritten; save it as a file first")
        rewrite_file(each.path, dump_case(each))
    return new


def _print_verdicts(out: Console, judged_cases: list[JudgedCase], *, trace: bool) -> None:
    if trace:
        for judged in judged_cases:
            _print_trace(out, judged)
    print_table(out, _table(judged_cases))
    options.say_what_versions_stand_for(out, _protocols(judged_cases))
    for line in (*_causes(judged_cases), *_not_enabled(judged_cases)) if len(judged_cases) == 1 else ():
        out.print(line, markup=False, soft_wrap=True)
    for judged in judged_cases:
        for verdict in judged.verdicts.values():
            for sentence in verdict.complaints:
                out.print(f"{judged.case.path}: {judged.case.id}: {sentence}", markup=False)


def _print_links(out: Console, judged_cases: list[JudgedCase]) -> None:
    """Print a link to each case that is not as expected. A single case always gets a link."""
    for judged in judged_cases:
        if len(judged_cases) == 1 or not judged.as_expected:
            play_links.show(out, _link(judged))


def _link(judged: JudgedCase) -> str | None:
    return play_links.to_case(judged.case, judged.verdicts)


def _own(
    context: typer.Context, model: str, cases: list[Path], protocols: list[str] | None, *, trace: bool, json: bool
) -> int:
    """Replay schedules of a user's own model. Returns the exit code."""
    from epochfuzz.harness.own import loading

    options.refuse_for_own_model(context, "case", "protocol", "trace", "json")
    loaded = loading.load(model)
    for each in protocols or ():
        loading.protocol_of(loaded, each)

    from epochfuzz.harness.own import commands

    return commands.replay(loaded, cases, protocols or [], trace=trace, json=json)


def _load(paths: list[Path]) -> tuple[list[Case], CorpusError | None]:
    """Return the valid cases in files and directories, and an error that lists the invalid files, or None.

    Raises CorpusError if there is no valid case.
    """
    try:
        return load_corpus(paths), None
    except CorpusError as error:
        if not error.cases:
            raise
        return error.cases, error


def _draw(judged_cases: list[JudgedCase], format_: Format, file: Path | None) -> None:
    if len(judged_cases) > 1:
        raise BadInput(f"--format draws one case, and these are {len(judged_cases)}; name one")
    (judged,) = judged_cases
    refuse_too_long(judged.case)
    runs = [verdict.run for verdict in judged.verdicts.values()]
    drawn = draw(judged.case, runs, format_, judged.case.id if file is None else file.stem)
    if file is None:
        typer.echo(drawn, nl=False)
    else:
        write_file(file, drawn, FileKind[format_.name])


def _print_trace(out: Console, judged: JudgedCase) -> None:
    from epochfuzz.harness.views.terminal import side_by_side, timeline

    runs = [verdict.run for verdict in judged.verdicts.values()]
    out.print(Text(f"\n{judged.case.id}", "bold"))
    out.print(judged.case.why.strip(), markup=False)
    if len(runs) == 2:
        out.print(side_by_side(*runs))
        return
    for run in runs:
        out.print(timeline(run))


def _table(judged_cases: list[JudgedCase]) -> Table:
    table = Table("case", "protocol", "broken", "after event", "as expected")
    for judged in judged_cases:
        for name, verdict in judged.verdicts.items():
            run = verdict.run
            broken = ", ".join(run.broken) or "nothing"
            if run.permitted:
                broken += f" (permitted: {', '.join(run.permitted)})"
            as_expected = _as_expected(judged, name)
            table.add_row(judged.case.id, name, broken, str(verdict.at or "-"), as_expected)
    return table


def _did_nothing(run: Run) -> str:
    return f"{len(run.did_nothing)} of {len(run.steps)} events did nothing"


def _not_enabled(judged_cases: list[JudgedCase]) -> Iterator[str]:
    """Yield lines with the events that were not enabled, and the reasons. Protocols with equal lists share a line."""
    for judged in judged_cases:
        by_list: dict[str, list[str]] = {}
        for name, verdict in judged.verdicts.items():
            if verdict.run.did_nothing:
                by_list.setdefault(_reasons(verdict.run), []).append(name)
        for reasons, names in by_list.items():
            yield f"{', '.join(names)}: {reasons}"


def _reasons(run: Run) -> str:
    before = (run.start, *(step.state for step in run.steps))
    reasons = (
        f"{step.number} {event_text(step.event)} ({why_not(before[step.number - 1], step.event)})"
        for step in run.did_nothing
    )
    return f"{_did_nothing(run)}: {'; '.join(reasons)}"


def _without_effect(judged_cases: list[JudgedCase]) -> list[str]:
    """Return the ids of cases without an enabled event and without an expectation for the replayed protocols."""
    return [
        judged.case.id
        for judged in judged_cases
        if not judged.verdicts.keys() & set(judged.case.protocols)
        and not any(step.applied for each in judged.verdicts.values() for step in each.run.steps)
    ]


def _protocols(judged_cases: list[JudgedCase]) -> list[Protocol]:
    return [verdict.run.protocol for judged in judged_cases for verdict in judged.verdicts.values()]


def _causes(judged_cases: list[JudgedCase]) -> Iterator[str]:
    """Yield the causes of the broken properties, one line for each protocol and cause."""
    for judged in judged_cases:
        for name, verdict in judged.verdicts.items():
            by_cause: dict[str, list[str]] = {}
            for broken, why in verdict.run.causes.items():
                by_cause.setdefault(why.description, []).append(broken)
            for told, broken_so in by_cause.items():
                yield f"{name} breaks {' and '.join(broken_so)}: {told}"


def _as_expected(judged: JudgedCase, protocol: str) -> Text:
    if judged.verdicts[protocol].complaints:
        return Text("NO", "bold reverse")
    return Text("yes" if protocol in judged.case.protocols else "the case does not say")


def _json(judged: JudgedCase) -> "documents.JudgedCase":
    return {
        "id": judged.case.id,
        "as_expected": judged.as_expected,
        "protocols": {name: _verdict_json(verdict) for name, verdict in judged.verdicts.items()},
        "play": _link(judged),
    }


def _verdict_json(verdict: Verdict) -> "documents.Judged":
    run = verdict.run
    return {
        "broken": run.broken,
        "permitted": run.permitted,
        "at": verdict.at,
        "first_broken": run.first_broken,
        "causes": {name: causes.plain() for name, causes in run.causes.items()},
        "fingerprint": run.fingerprint,
        "mismatches": list(verdict.complaints),
        "events": len(run.steps),
        "did_nothing": [{"number": step.number, "event": event_text(step.event)} for step in run.did_nothing],
    }
