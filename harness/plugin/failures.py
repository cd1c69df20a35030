"""Extend the report of a failed state machine by a timeline and by a case, which you can replay without Hypothesis.

The exception does not refer to the machine, so this module finds the machine in the frames of the traceback. The
machine there has run the shrunk example, because Hypothesis raises the exception of its last run.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from traceback import walk_tb
from typing import Any

from epochfuzz.harness.cases.case import Case, CaseError, dump_case
from epochfuzz.harness.cases.folder import CaseDirectory, twin_of
from epochfuzz.harness.cases.found_case import case_of_breach, case_of_witness
from epochfuzz.harness.text.printable import printable
from epochfuzz.harness.trace.story import story_of
from epochfuzz.harness.trace.witness import Witness
from epochfuzz.harness.views import play_links, terminal
from epochfuzz.harness.views.plain_text import drawn

_MOST_SAID = 300  # characters of an exception's message


def sections(error: BaseException, directory: Path | None) -> Iterator[tuple[str, str]]:
    """Yield sections for pytest's report of an exception, as pairs (title, text).

    Yield none if no state machine raised the exception. If a directory is given, the function saves a case of each
    failure there.
    """
    if isinstance(error, BaseExceptionGroup):  # Hypothesis groups several failures of one machine
        for each in error.exceptions:
            yield from sections(each, directory)
        return
    drawing, case = _drawing_and_case(error) or (None, None)
    if drawing is not None and case is not None:
        yield (
            "what happened",
            f"{drawn(drawing)}\n{play_links.line(play_links.to_case(case, case.protocols, len(case.events)))}",
        )
        yield _title(case, directory), dump_case(case)


def _drawing_and_case(error: BaseException) -> tuple[Any, Case] | None:
    """Return the timeline and the case of the state machine that raised an exception, or None without a machine."""
    for name, machine, of_machine in (
        ("strategies.machine", "ReplicationMachine", _of_replication),
        ("harness.conform.run.machine", "ConformanceMachine", _of_conformance),
        ("harness.conform.client.client_test", "ClientTest", _of_conformance),
    ):
        kind = getattr(sys.modules.get(f"epochfuzz.{name}"), machine, None)
        if kind is None:
            continue
        for frame, _ in walk_tb(error.__traceback__):
            for value in frame.f_locals.values():
                if isinstance(value, kind) and (found := of_machine(value, error)) is not None:
                    return found
    return None


def _of_replication(machine: Any, error: BaseException) -> tuple[Any, Case] | None:
    from epochfuzz.strategies.failures import PropertyBroken

    if not machine.occurred:
        return None
    witness = Witness(machine.occurred, machine.scout.settings, machine.protocols)
    if isinstance(error, PropertyBroken):
        case = case_of_breach(witness, error.protocol, error.property, "A state machine", {})
        return terminal.draw(witness.story(error.protocol, error.property)), case
    run = witness.runs[machine.protocols[0].name]
    name = type(machine).__name__
    case = case_of_witness(witness, name, f"The state machine {name} failed: {_said(error)}. {run.description}", {})
    return terminal.draw(story_of(run)), case


def _of_conformance(machine: Any, error: BaseException) -> tuple[Any, Case] | None:
    from epochfuzz.harness.conform.run.cases import case_of
    from epochfuzz.harness.views.conformance import steps

    if not machine.sent:
        return None
    if machine.nonconformity is not None:
        return steps(machine.nonconformity), case_of(machine.nonconformity)
    protocol = machine.setting.protocol
    witness = Witness(machine.sent, machine.setting.settings, (protocol,))
    name = f"{protocol.name} {type(error).__name__}"
    case = case_of_witness(witness, name, f"An implementation failed: {_said(error)}.", {"protocol": protocol.name})
    return terminal.draw(story_of(witness.runs[protocol.name])), case


def _said(error: BaseException) -> str:
    return printable(f"{type(error).__name__}: {error}".partition("\n")[0])[:_MOST_SAID]


def _title(case: Case, directory: Path | None) -> str:
    """Save the case if a directory is given. Returns the title of the report's section, which names the saved file."""
    if directory is None:
        return "the case; --epochfuzz-save saves it"
    try:
        folder = CaseDirectory(directory)
        twin = twin_of(case, folder.cases)
        path = folder.save(case) if twin is None else twin.path
    except (CaseError, OSError) as refused:
        return f"the case, which cannot be saved: {refused}"
    return f"the case, saved as {directory.name}/{path.name if path else ''}"
