"""Write annotations and a summary for GitHub Actions, if the command runs there.

The runner turns certain lines of a step's output into annotations. The summary is a Markdown file, and the environment
variable GITHUB_STEP_SUMMARY has its path.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from epochfuzz.harness.cases.verdict import JudgedCase
from epochfuzz.harness.cli.output import BadInput
from epochfuzz.harness.reference import markdown
from epochfuzz.harness.views import play_links
from epochfuzz.model.kafka.vocabulary.events import schedule_texts

if TYPE_CHECKING:
    from epochfuzz.harness.findings.findings import Finding

_MOST_DIAGRAMS = 5  # a step's summary is limited to 1 MiB


def annotate_walk(out: Console, found: Sequence["Finding"], reproduce: str) -> None:
    """Write an error annotation for each finding that is not a known bug, and a summary of all findings."""
    new = [finding for finding in found if finding.known_flaw is None]
    if _in_actions():
        for finding in new:
            events = ", ".join(schedule_texts(finding.reproducer.schedule))
            _error(
                out,
                f"{finding.protocol.name} breaks {finding.property}",
                f"{events}\nreproduce: {reproduce}\n{play_links.line(play_links.to_finding(finding))}",
            )
    _summarise(_walk_lines(found, new, reproduce))


def annotate_replay(out: Console, judged_cases: Sequence[JudgedCase]) -> None:
    """Write an error annotation for each case that does not end as expected, and a summary of all cases."""
    if _in_actions():
        for judged in judged_cases:
            for complaint in _complaints(judged):
                link = play_links.line(play_links.to_case(judged.case, judged.verdicts))
                _error(out, f"{judged.case.id} is not as expected", f"{complaint}\n{link}", judged.case.path)
    _summarise(_replay_lines(judged_cases))


def _in_actions() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _error(out: Console, title: str, message: str, file: Path | None = None) -> None:
    properties = {"file": str(file)} if file else {}
    fields = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in (properties | {"title": title}).items())
    out.print(f"::error {fields}::{_escaped(message)}", markup=False, soft_wrap=True)


def _escaped(text: str, also: str = "") -> str:
    """Escape a text for a workflow command: %, line ends, and the characters in `also`."""
    for character in f"%\r\n{also}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _summarise(lines: Iterable[str]) -> None:
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    try:
        with Path(name).open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise BadInput(f"GITHUB_STEP_SUMMARY: {name} cannot be written: {error.strerror}") from None


def _walk_lines(found: Sequence["Finding"], new: Sequence["Finding"], reproduce: str) -> Iterable[str]:
    from epochfuzz.harness.views import summary
    from epochfuzz.harness.views.drawings.mermaid import sequence_diagram

    yield f"### epochfuzz: {len(new) or 'nothing'} unexpected, {len(found) - len(new)} known bugs\n"
    yield markdown.table(
        ("protocol", "property", "events", "certified minimal", ""),
        (
            (
                finding.protocol.name,
                finding.property,
                str(len(finding.reproducer.schedule)),
                "yes" if finding.reproducer.certified_minimal else "no",
                f"known bug: {finding.known_flaw}" if finding.known_flaw else f"**UNEXPECTED** {finding.causes.text}",
            )
            for finding in found
        ),
    )
    yield f"\n`{reproduce}`\n"
    for same in summary.by_reproducer(new)[:_MOST_DIAGRAMS]:
        story = same[0].witness.story(same[0].protocol, same[0].property)
        names = " and ".join(finding.property for finding in same)
        yield f"#### {same[0].protocol.name} breaks {names}\n\n```mermaid\n{sequence_diagram(story)}```\n"


def _replay_lines(judged_cases: Sequence[JudgedCase]) -> Iterable[str]:
    failed = [judged for judged in judged_cases if not judged.as_expected]
    yield f"### epochfuzz: {len(judged_cases) - len(failed)} of {len(judged_cases)} cases as expected\n"
    if failed:
        rows = ((judged.case.id, complaint) for judged in failed for complaint in _complaints(judged))
        yield markdown.table(("case", "not as expected"), rows)


def _complaints(judged: JudgedCase) -> Iterable[str]:
    for name, verdict in judged.verdicts.items():
        for complaint in verdict.complaints:
            yield f"{name}: {complaint}"
