"""Show and save the results of `epochfuzz conform`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from epochfuzz.harness.cli.output import BadInput, Exit, files_as_bad_input, print_json
from epochfuzz.harness.cli.runs.conform_request import ConformRequest
from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable
from epochfuzz.harness.conform.protocol.process import CommandError
from epochfuzz.harness.conform.run.cases import save_case
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.proofs import proofs
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.engine.explore.certificates import Reproducer
from epochfuzz.harness.engine.runtime.interruption import Interruption
from epochfuzz.harness.views import conformance as report
from epochfuzz.harness.views import play_links, transitions

if TYPE_CHECKING:
    from epochfuzz.harness.documents import conformance as documents


@dataclass(frozen=True)
class ConformEnding:
    """The request of a finished run (`asked`), and the command line that repeats or resumes the run (`again`).

    `kept` is the file with the saved progress of a run on this machine, or None.
    """

    asked: ConformRequest
    again: str
    kept: Path | None


def end(ending: ConformEnding, plan: Plan, conformance: Conformance) -> int:
    """Print the results, save the findings as cases, and return the exit code.

    Raises KeyboardInterrupt after Ctrl-C.
    """
    asked, out = ending.asked, ending.asked.out
    proven, saved = _prove_and_save(asked, plan, conformance)
    _show_end(ending, plan, conformance)
    if conformance.interrupted:
        raise KeyboardInterrupt
    if asked.json:
        _print_document(ending, plan, conformance, saved, proven)
    if conformance.ended_by is not None:
        raise unusable(conformance.ended_by)
    if not conformance.conforms:
        return Exit.BROKEN
    for field, meant in report.misspelt(conformance, plan).items():
        raise BadInput(f"the adapter shows {field}, and never {meant}: rename it, or move it below `own`")
    if conformance.vacuous:
        out.print("This run checked nothing: no event was ever applied, or no field was ever shown.")
        return Exit.GOAL_UNMET
    return Exit.AS_EXPECTED


def _prove_and_save(
    asked: ConformRequest, plan: Plan, conformance: Conformance
) -> tuple[list[Reproducer | None], dict[int, Path]]:
    """Try to prove that no shorter schedule shows each finding. Print all findings, and save some as cases.

    Saves the findings that have events and are not known bugs. Returns a proof or None for each finding, and the case
    files by the index of the finding.
    """
    proving = asked.certify
    with asked.out.status("certifying"), Interruption() as interruption:
        known = conformance.nonconformities
        seconds = 0 if conformance.interrupted else proving and proving / 2
        # A client's known failure is the case as it is: conformance_finding does not shrink it.
        proven = proofs([] if plan.is_client else known, seconds, interruption) or [None] * len(known)
    conformance.interrupted |= interruption.happened
    saved = {}
    for number, (nonconformity, proof) in enumerate(zip(known, proven, strict=True)):
        asked.out.print(report.nonconformity_text(nonconformity, proof))
        if nonconformity.sighting.sent:
            play_links.show(asked.out, play_links.to_difference(nonconformity))
        if nonconformity.sighting.sent and not nonconformity.known_flaw:
            with files_as_bad_input("--out"):
                saved[number] = save_case(nonconformity, plan.seed, asked.cases)
            asked.out.print(f"saved as {saved[number]}", markup=False)
    return proven, saved


def _show_end(ending: ConformEnding, plan: Plan, conformance: Conformance) -> None:
    out, again, tours = ending.asked.out, ending.again, ending.asked.exhaustive
    if conformance.interrupted:
        ended = transitions.interrupted(conformance, ending.kept) if tours else report.interrupted(conformance, plan)
        for line in ended:
            out.print(line, markup=False, soft_wrap=True)
        out.print(f"to continue, and to shrink all failures: {again}", markup=False, soft_wrap=True)
        return
    for line in transitions.summary(conformance, plan, ending.kept) if tours else report.summary(conformance, plan):
        out.print(line, markup=False, soft_wrap=tours)
    drawn = plan.schedules * len(plan.protocols)
    if ending.asked.campaign is not None and ending.asked.seconds is not None and conformance.schedules < drawn:
        out.print(f"--for ended the run after {conformance.schedules:,} of {drawn:,} schedules")
    out.print(f"reproduce: {again}", markup=False, soft_wrap=True)


def _print_document(
    ending: ConformEnding,
    plan: Plan,
    conformance: Conformance,
    saved: dict[int, Path],
    proven: list[Reproducer | None],
) -> None:
    document = report.document(conformance, plan, saved, proven)
    if ending.asked.exhaustive:
        played = transitions.document(conformance, plan)
        of_tours: documents.Exhaustive = {**document, "transitions": played, "reproduce": ending.again}
        print_json(of_tours)
    else:
        of_schedules: documents.Conform = {**document, "reproduce": ending.again}
        print_json(of_schedules)


def unusable(error: SubjectUnable | CommandError) -> BadInput:
    """Return BadInput for an adapter that cannot start, or that does not support the protocol or the settings."""
    if isinstance(error, SubjectUnable):
        return BadInput(f"the system under test cannot run this protocol and configuration: {error}")
    return BadInput(str(error))
