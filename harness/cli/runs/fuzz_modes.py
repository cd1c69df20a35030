"""The three modes of `epochfuzz fuzz`: random runs, an ablation (--ablate), and a search that distinguishes protocols.

An ablation runs a protocol's variants, each with one mechanism, such as fencing, switched back to an earlier choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.first_finding import show_first_finding
from epochfuzz.harness.cli.output import BadInput, Exit, as_bad_input, print_json
from epochfuzz.harness.cli.runs.fuzz_request import FuzzRequest
from epochfuzz.harness.cli.walk_results import (
    Ending,
    end_walk,
    interruptible,
    reproduction,
    tell_unfinished,
    write_report,
    write_sarif,
)
from epochfuzz.harness.documents import walks
from epochfuzz.harness.engine.explore.distinguish import Distinction, distinguish
from epochfuzz.harness.engine.walk import walking
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.engine.walk.walking import Walked
from epochfuzz.harness.findings import findings as fuzzing
from epochfuzz.harness.findings.findings import FoundFindings
from epochfuzz.harness.jobs import random_runs
from epochfuzz.harness.jobs.random_runs import KeptWalk
from epochfuzz.harness.jobs.unfinished import ProgressError
from epochfuzz.harness.trace.replay import replay
from epochfuzz.harness.views import play_links, summary
from epochfuzz.harness.views.progress import LiveLine, show_search, show_walk
from epochfuzz.harness.views.report import from_walk
from epochfuzz.harness.views.terminal import side_by_side
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, ablations

_ABLATION_MEMORY = 1 << 28  # bytes for each proof; an ablation proves about thirty reproducers, most of them short


@dataclass(frozen=True, kw_only=True)
class _Run:
    """A run of random schedules from one seed. `kept` is the saved progress of the run, or None without --out."""

    asked: FuzzRequest
    walker: Walker[Protocol, Configuration]
    kept: KeptWalk | None

    @property
    def path(self) -> Path | None:
        """The file with the saved progress, or None without --out."""
        return None if self.kept is None else self.kept.unfinished.path

    def walk(self, progress: LiveLine, seconds: float | None) -> Walked:
        """Run the schedules, save the progress, and return the results. Raises BadInput."""
        asked, report = self.asked, progress.walked
        if self.kept is None:
            return walking.walk(self.walker, asked.schedules, seconds, asked.threads, report)
        with as_bad_input(ProgressError, "--out"):
            return self.kept.walk(self.walker, asked.schedules, seconds, asked.threads, report)

    def save(self, found: FoundFindings) -> list[str]:
        """Save the findings as cases, and delete the progress if the run is finished.

        Returns the paths of the new case files.
        """
        if self.asked.saving is None or self.kept is None:
            return []
        saved = self.asked.saving.save(self.walker, found.findings)
        if not found.interrupted:
            with as_bad_input(ProgressError, "--out"):
                self.kept.unfinished.forget()
        return saved


def _begin(asked: FuzzRequest, kind: str, protocols: Sequence[Protocol]) -> _Run:
    """Return the run for a request, and print the seed of the run. `kind` is `fuzz` or `ablate`. Raises BadInput.

    With --out, the run resumes an unfinished run that has equal parameters and an equal seed. If the user typed no
    --seed, the run takes the seed of the latest unfinished run in the --out directory, or a random seed.
    """
    kept = None
    if asked.saving is not None:
        directory = asked.saving.folder.directory
        wanted = random_runs.request(kind, protocols, asked.settings, asked.schedules, asked.seconds)
        with as_bad_input(ProgressError, "--out"):
            asked = asked.with_seed(wanted.seed_for(asked.given_seed, directory))
            kept = KeptWalk(directory, wanted, asked.seed)
    asked = asked.seeded()
    asked.out.print(f"seed {asked.seed} · {asked.settings.text()}")
    if kept is not None and kept.before is not None:
        done, path = kept.before.tally.schedules, kept.unfinished.path
        asked.out.print(f"resuming after {done:,} schedules, which are kept in {path}", markup=False, soft_wrap=True)
    return _Run(asked=asked, walker=Walker(protocols, asked.settings, asked.seed), kept=kept)


def walk_protocols(asked: FuzzRequest, protocols: Sequence[Protocol]) -> int:
    """Run random schedules under protocols, print and save the findings, and return the exit code. Raises BadInput."""
    run = _begin(asked, "fuzz", protocols)
    asked, out, walker = run.asked, run.asked.out, run.walker
    options.say_what_versions_stand_for(out, protocols)
    show_first_finding(out, protocols, asked.settings)
    what = [f"--protocol {each.name}" for each in protocols]
    with show_walk(out, asked.schedules, asked.seconds) as progress:
        walked = run.walk(progress, asked.seconds)
        with interruptible(out, walker, walked, what, run.path):
            broken = fuzzing.breaches(protocols, asked.settings, walked.tally)
            found = fuzzing.findings(walker, broken, progress, asked.certify)
    saved = run.save(found)
    more: dict[str, Any] = {"saved": saved} if asked.saving is not None else {}
    ending = Ending(out=out, json=asked.json, report=asked.report, sarif=asked.sarif, trace=asked.trace, more=more)
    code = end_walk(ending, walker, walked, found.findings)
    if asked.saving is not None:
        asked.saving.tell(out, saved)
    tell_unfinished(out, found)
    return code


def ablate_protocol(asked: FuzzRequest, base: Protocol, *, proofs_are_bounded: bool) -> int:
    """Run an ablation of the protocol `base`, and return the exit code. Raises BadInput.

    Half of the time of --for is for random runs. The other half is for shrinking and proofs. If the user typed
    --certify (`proofs_are_bounded`), the time of --certify replaces this other half.
    """
    variants = ablations(base, asked.settings)
    if not variants:
        raise BadInput(f"--ablate: {base.name} has no mechanism that can be switched back; name a later protocol")
    run = _begin(asked, "ablate", [base, *variants])
    asked, out = run.asked, run.asked.out
    options.say_what_versions_stand_for(out, [base])
    half = None if asked.seconds is None else asked.seconds / 2
    if asked.seconds is not None:
        out.print(
            f"{len(variants)} variants in {asked.seconds:.0f} s (--for): half for random runs, half for shrinking"
        )
    certify = asked.certify if proofs_are_bounded or half is None else half
    walked, found = _ablation_findings(run, base, half, certify)
    saved = run.save(found)
    _show_ablation(run, base, walked, found, saved)
    tell_unfinished(out, found)
    if any(finding.protocol == base and finding.known_flaw is None for finding in found.findings):
        return Exit.BROKEN
    return Exit.GOAL_UNMET if summary.idle_mechanisms(base, variants, found.findings) else Exit.AS_EXPECTED


def _ablation_findings(
    run: _Run, base: Protocol, seconds: float | None, certify: float | None
) -> tuple[Walked, FoundFindings]:
    """Run the schedules, and shrink and prove the findings of each protocol.

    Prints the lengths of a protocol's shrunk schedules as soon as they are known. `seconds` limits the random runs, and
    `certify` the proofs, in seconds; None: no limit.
    """
    out, walker, found = run.asked.out, run.walker, fuzzing.FoundFindings()
    with show_walk(out, run.asked.schedules, seconds) as progress:
        walked = run.walk(progress, seconds)
        with interruptible(out, walker, walked, [f"--ablate {base.name}"], run.path):
            broken = fuzzing.breaches(walker.protocols, run.asked.settings, walked.tally)
            for part in fuzzing.findings_by_protocol(walker, broken, progress, certify, _ABLATION_MEMORY):
                found.add(part)
                for protocol in dict.fromkeys(each.protocol for each in part.findings):
                    out.print(summary.lengths(protocol, part.findings), soft_wrap=True)
    return walked, found


def _show_ablation(run: _Run, base: Protocol, walked: Walked, found: FoundFindings, saved: list[str]) -> None:
    asked, out, walker = run.asked, run.asked.out, run.walker
    variants = walker.protocols[1:]
    again = reproduction([f"--ablate {base.name}"], asked.settings, walked.tally.schedules, asked.seed)
    summary.print_reproducers(out, summary.witnesses(found.findings), trace=asked.trace)
    out.print(summary.ablation_table(base, variants, found.findings))
    out.print(summary.pace(walked), f"\nreproduce: {again}", sep="")
    for variant in summary.harmless_variants(variants, found.findings):
        out.print(
            f"{variant} broke nothing here; more schedules or replicas, or a fault such as --power-loss, may do it"
        )
    if asked.report is not None:
        write_report(out, asked.report, from_walk.page(walker, walked, found.findings, again))
    if asked.sarif is not None:
        write_sarif(out, asked.sarif, walker, found.findings, again)
    if asked.saving is not None:
        asked.saving.tell(out, saved)
    if asked.json:
        document: walks.Ablation = {
            **summary.walk_json(walker, walked, found.findings),
            "reproduce": again,
            "guards_nothing": summary.idle_mechanisms(base, variants, found.findings),
        }
        print_json(document if asked.saving is None else {**document, "saved": saved})


def distinguish_protocols(asked: FuzzRequest, breaks: Protocol, holds: Protocol, wanted: int) -> int:
    """Search for a schedule that breaks a property under the protocol `breaks`, and no property under `holds`.

    `wanted` is the bit that stands for the property. Returns the exit code.
    """
    out, settings = asked.out, asked.settings
    (property_,) = properties.names(wanted)
    out.print(f"seed {asked.seed} · {settings.text()}")
    options.say_what_versions_stand_for(out, [breaks, holds])
    with show_search(out) as progress:
        distinction = distinguish(breaks, holds, settings, wanted, asked.seed, asked.seconds, progress.searched)
    schedule, link = distinction.schedule, None
    if schedule is None:
        bound = "within the bounds" if distinction.complete else f"of fewer than {distinction.searched} events"
        out.print(f"no schedule {bound} breaks {property_} under {breaks.name} and nothing under {holds.name}")
    else:
        runs = [replay(schedule, each, settings) for each in (breaks, holds)]
        out.print(side_by_side(*runs))
        proof = "certified minimal" if distinction.certified_minimal else "not proven minimal"
        out.print(
            f"{breaks.name} breaks {property_} in {len(schedule)} events that break nothing under {holds.name}: {proof}"
        )
        link = play_links.to_break(runs, property_)
        play_links.show(out, link)
    if asked.json:
        print_json(_distinction_json(asked, breaks, holds, property_, distinction, link))
    return Exit.GOAL_UNMET if schedule is None and not distinction.complete else Exit.AS_EXPECTED


def _distinction_json(
    asked: FuzzRequest, breaks: Protocol, holds: Protocol, property_: str, distinction: Distinction, link: str | None
) -> walks.Distinction:
    schedule = distinction.schedule
    return {
        "seed": asked.seed,
        "configuration": asked.settings.changed(),
        "breaks": breaks.name,
        "holds": holds.name,
        "property": property_,
        "events": schedule_texts(schedule) if schedule is not None else None,
        "length": len(schedule) if schedule is not None else None,
        "certified_minimal": distinction.certified_minimal,
        "play": link,
    }
