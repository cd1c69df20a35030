"""Replay case files on a user's own system, and compare the results with the model (`epochfuzz replay --subject`)."""

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cli.environment.signals import as_ctrl_c
from epochfuzz.harness.cli.output import Exit, as_bad_input, console, print_json
from epochfuzz.harness.trace.replay import broken_text
from epochfuzz.harness.views import play_links
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.conform.run.rerun import Rerun
    from epochfuzz.harness.documents import cases as documents

Reruns = list[tuple[Case, str, "Rerun | str"]]  # a text is the reason why the adapter can't run the case


def replay_by_subject(command: str, cases: Sequence[Case], protocols: Sequence[str] | None, *, json: bool) -> Exit:
    """Replay cases on the system that `command` starts, print a comparison with the model, and return the exit code.

    `protocols` None means the protocols that each case names. Raises BadInput and ProtocolError.
    """
    from epochfuzz.harness.conform.protocol.process import CommandError
    from epochfuzz.harness.views.progress import show_search

    out = console(json)
    with as_bad_input(CommandError, "--subject"), as_ctrl_c(), show_search(out) as progress:
        progress.doing("starting the adapter")
        reruns = list(_reruns(command, cases, protocols))
    out.print(_table(reruns))
    for case, protocol, told in reruns:
        if isinstance(told, str):
            out.print(
                f"{case.id} was not replayed under {protocol}: the system under test cannot run it: {told}",
                markup=False,
            )
        elif told.differs is not None:
            number, fault = told.differs
            out.print(f"{case.id} under {protocol}, after event {number}: {fault.sentence}", markup=False)
            play_links.show(out, _link(case, protocol, told))
    if json:
        document: documents.Reruns = {"cases": [_json(*each) for each in reruns]}
        print_json(document)
    done = [told for _, _, told in reruns if not isinstance(told, str)]
    if not done:
        return Exit.GOAL_UNMET
    return Exit.AS_EXPECTED if all(each.agrees for each in done) else Exit.BROKEN


def _reruns(command: str, cases: Iterable[Case], protocols: Sequence[str] | None) -> Reruns:
    from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable
    from epochfuzz.harness.conform.protocol.subject import CommandSubject
    from epochfuzz.harness.conform.run.rerun import rerun

    reruns: Reruns = []
    with CommandSubject(shlex.split(command)) as subject:
        for case in cases:
            for name in case.protocols if protocols is None else protocols:
                try:
                    reruns.append((case, name, rerun(subject, case, parse_protocol(name))))
                except SubjectUnable as unable:
                    reruns.append((case, name, str(unable)))
    return reruns


def _table(reruns: Reruns) -> Table:
    table = Table("case", "protocol", "the model breaks", "the subject breaks", "the same")
    for case, protocol, told in reruns:
        if not isinstance(told, str):
            same = Text("yes") if told.agrees else Text("NO", "bold reverse")
            table.add_row(case.id, protocol, broken_text(told.model), broken_text(told.subject), same)
    return table


def _link(case: Case, protocol: str, told: "Rerun") -> str | None:
    """Return a link to `play` that shows the first difference from the model, or else the start of the case.

    None if the case is too long for `play`.
    """
    return play_links.to_case(case, [protocol], 0 if told.differs is None else told.differs[0])


def _json(case: Case, protocol: str, told: "Rerun | str") -> "documents.Rerun | documents.Unable":
    if isinstance(told, str):
        return {"id": case.id, "protocol": protocol, "unable": told}
    differs: documents.Difference | None = None
    if told.differs is not None:
        after, fault = told.differs
        differs = {"after": after, "kind": fault.kind, "field": fault.field}
    return {
        "id": case.id,
        "protocol": protocol,
        "agrees": told.agrees,
        "model": {"broken": told.model.broken, "at": told.model.at},
        "subject": {"broken": told.subject.broken, "at": told.subject.at},
        "differs": differs,
        "play": _link(case, protocol, told),
    }
