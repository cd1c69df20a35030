"""`epochfuzz fuzz`: run compiled random schedules in this process, and shrink, certify and show the failures."""

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.output import BadInput, Exit, console, print_json
from epochfuzz.harness.cli.saving import Saving
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, ablations

if TYPE_CHECKING:
    from epochfuzz.harness.documents import walks

DEFAULT_SCHEDULES = 200_000
ABLATION_SECONDS = 120.0  # one half for the random runs, the other half to shrink their findings
_ABLATION_MEMORY = 1 << 28  # bytes: about thirty reproducers are proven, most of them short


@options.configured()
def fuzz(
    *,
    settings: Configuration,
    context: typer.Context,
    protocol: options.Protocols = ["hw", "kip-101"],  # noqa: B006 - typer only reads the default
    schedules: Annotated[int | None, typer.Option("--schedules", min=1, help="Number of schedules to run.")] = None,
    for_: Annotated[str | None, typer.Option("--for", help="End after that long instead, such as 60s.")] = None,
    model: options.OwnModel = None,
    seed: options.Seed = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Threads; all cores if left out.")] = None,
    ablate: Annotated[
        str | None,
        options.protocol_option(
            "--ablate", help="Switch back each mechanism of this protocol alone, to see which property it guards."
        ),
    ] = None,
    breaks: Annotated[
        str | None, options.protocol_option("--breaks", help="With --holds: the protocol to break.")
    ] = None,
    holds: Annotated[
        str | None, options.protocol_option("--holds", help="With --breaks: the protocol that must hold.")
    ] = None,
    property_: options.Property = "no-committed-loss",
    trace: Annotated[bool, typer.Option("--trace", help="Show known bugs too step by step.")] = False,
    certify: options.Certify = options.CERTIFY,
    report: options.Report = None,
    sarif: options.Sarif = None,
    out_: Annotated[Path | None, typer.Option("--out", help="Save findings as case files in this directory.")] = None,
    new: Annotated[
        bool,
        typer.Option("--new", help="With --out: save only findings that are new or suspected, and not in the corpus."),
    ] = False,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="The corpus that --new compares with; ./corpus if left out.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Run random schedules under each protocol; shrink and certify each violation.

    Examples:

    - `epochfuzz fuzz`
    - `epochfuzz fuzz --protocol hw --protocol kip-320 --replicas 3 --for 60s`
    - `epochfuzz fuzz --protocol kip-320:fencing=none --schedules 200000 --seed 7 --json`
    - `epochfuzz fuzz --breaks kip-101 --holds kip-320 --property no-divergence`
    - `epochfuzz fuzz --ablate kip-320 --replicas 3`
    - `epochfuzz fuzz --protocol kip-279 --replicas 3 --report kip-279.html`
    - `epochfuzz fuzz --protocol kafka-4.1 --replicas 3 --certify 10m`
    - `epochfuzz fuzz --protocol kip-320 --replicas 3 --for 10m --out found --new`
    - `epochfuzz fuzz --model counter:COUNTER --protocol at-once`
    """
    out = console(json)
    if seed is None:
        seed = secrets.randbelow(1 << 32)
    ends = None if for_ is None else options.parse_duration(for_)
    asked = _Walk(out, settings, schedules, ends, seed, jobs or os.cpu_count() or 1, trace, report, sarif, json)
    if model is not None:
        _refuse_two_ends(schedules, for_)
        options.refuse_for_own_model(context, "protocol", "schedules", "for_", "seed", "jobs", "certify", "json")
        named = protocol if "protocol" in options.given(context) else [""]
        return _own(asked.proven(certify), model, named, options.given_settings(context))
    if (breaks is None) != (holds is None):
        raise BadInput("--breaks needs --holds, and --holds needs --breaks; give both")
    wanted = options.parse_property(property_)
    _refuse_what_is_not_used(context)
    if breaks is not None and holds is not None:
        (to_break,), (to_hold,) = options.parse_protocols([breaks]), options.parse_protocols([holds])
        if to_break.numbers() == to_hold.numbers():
            raise BadInput("--breaks and --holds name the same protocol; name protocols with different rules")
        return _distinguish(asked, to_break, to_hold, wanted)
    _refuse_two_ends(schedules, for_)
    asked = replace(asked.proven(certify), saving=Saving.asked(out_, new, corpus))
    if ablate is not None:
        (base,) = options.parse_protocols([ablate])
        return _ablate(asked.within(seconds=ABLATION_SECONDS), base, is_given="certify" in options.given(context))
    return _walk(asked.within(schedules=DEFAULT_SCHEDULES), options.parse_protocols(protocol))


def _refuse_two_ends(schedules: int | None, for_: str | None) -> None:
    if schedules is not None and for_ is not None:
        raise BadInput("--schedules can't be combined with --for; give only one")


@dataclass(frozen=True)
class _Walk:
    """A request for random runs: their limits, the seconds for proofs, and the requested outputs."""

    out: Console
    settings: Configuration
    schedules: int | None
    seconds: float | None
    seed: int
    threads: int
    trace: bool
    report: Path | None
    sarif: Path | None
    json: bool
    certify: float | None = None
    saving: Saving | None = None

    def proven(self, certify: str) -> "_Walk":
        """Return the request with the time limit for proofs that --certify gives. Raises BadInput."""
        return replace(self, certify=options.parse_certify(certify))

    def within(self, schedules: int | None = None, seconds: float | None = None) -> "_Walk":
        """Return the request, with limits unless it already has one."""
        is_bounded = self.schedules is not None or self.seconds is not None
        return self if is_bounded else replace(self, schedules=schedules, seconds=seconds)


def _own(asked: _Walk, model: str, protocols: Sequence[str], given: Mapping[str, Any]) -> int:
    """Run random schedules of a user's own model. Returns the exit code."""
    from epochfuzz.harness.own import loading

    loaded = loading.load(model)
    parsed = [loading.protocol_of(loaded, each) for each in dict.fromkeys(protocols)]
    settings = loading.settings_of(loaded, given)
    asked = asked.within(schedules=DEFAULT_SCHEDULES)

    from epochfuzz.harness.own import commands

    walked = commands.OwnWalk(
        loaded, parsed, settings, asked.schedules, asked.seconds, asked.seed, asked.threads, asked.certify
    )
    return commands.fuzz(walked, json=asked.json)


_SAVING = ("out_", "new", "corpus")

# The modes of fuzz by the options that select them, with the options that have no meaning in each mode.
_NOT_USED = {
    ("breaks", "holds"): (
        *("protocol", "ablate", "schedules", "jobs", "trace", "certify", "report", "sarif"),
        *_SAVING,
    ),
    ("ablate",): ("protocol", "property_"),
    (): ("property_",),
}


def _refuse_what_is_not_used(context: typer.Context) -> None:
    """Raise BadInput for an option that the command would otherwise ignore silently."""
    given = options.given(context)
    mode = next(mode for mode in _NOT_USED if given.issuperset(mode))
    if mode:
        options.refuse_with(context, _NOT_USED[mode], " and ".join(f"--{each}" for each in mode))
    else:
        options.refuse_without(context, _NOT_USED[mode], "--breaks and --holds")


# Imports are inside the functions, so that help and errors are printed before anything is compiled.


def _walk(asked: _Walk, protocols: Sequence[Protocol]) -> int:
    from epochfuzz.harness.cli.first_finding import show_first_finding
    from epochfuzz.harness.cli.walk_results import Ending, end_walk, interruptible, tell_unfinished
    from epochfuzz.harness.engine.walk import walking
    from epochfuzz.harness.engine.walk.walk import Walker
    from epochfuzz.harness.findings import findings as fuzzing
    from epochfuzz.harness.views.progress import show_walk

    out, saving = asked.out, asked.saving
    out.print(f"seed {asked.seed} · {asked.settings.text()}")
    options.say_what_versions_stand_for(out, protocols)
    show_first_finding(out, protocols, asked.settings)
    walker = Walker(protocols, asked.settings, asked.seed)
    what = [f"--protocol {each.name}" for each in protocols]
    with show_walk(out, asked.schedules, asked.seconds) as progress:
        walked = walking.walk(walker, asked.schedules, asked.seconds, asked.threads, progress.walked)
        with interruptible(out, walker, walked, what):
            broken = fuzzing.breaches(protocols, asked.settings, walked.tally)
            found = fuzzing.findings(walker, broken, progress, asked.certify)
    saved = saving.save(walker, found.findings) if saving is not None else []
    more: dict[str, Any] = {"saved": saved} if saving is not None else {}
    ending = Ending(out, asked.json, asked.report, asked.sarif, asked.trace, more=more)
    code = end_walk(ending, walker, walked, found.findings)
    if saving is not None:
        saving.tell(out, saved)
    tell_unfinished(out, found)
    return code


def _ablate(asked: _Walk, base: Protocol, *, is_given: bool) -> int:
    from epochfuzz.harness.cli.walk_results import (
        interruptible,
        reproduction,
        tell_unfinished,
        write_report,
        write_sarif,
    )
    from epochfuzz.harness.engine.walk import walking
    from epochfuzz.harness.engine.walk.walk import Walker
    from epochfuzz.harness.findings import findings as fuzzing
    from epochfuzz.harness.views import summary
    from epochfuzz.harness.views.progress import show_walk
    from epochfuzz.harness.views.report import from_walk

    out, settings, saving = asked.out, asked.settings, asked.saving
    variants = ablations(base, settings)
    if not variants:
        raise BadInput(f"--ablate: {base.name} has no mechanism that can be switched back; name a later protocol")
    out.print(f"seed {asked.seed} · {settings.text()}")
    options.say_what_versions_stand_for(out, [base])
    half = None if asked.seconds is None else asked.seconds / 2
    if asked.seconds is not None:
        out.print(
            f"{len(variants)} variants in {asked.seconds:.0f} s (--for): half for random runs, half for shrinking"
        )
    certify = asked.certify if is_given or half is None else half
    walker = Walker([base, *variants], settings, asked.seed)
    found = fuzzing.FoundFindings()
    with show_walk(out, asked.schedules, half) as progress:
        walked = walking.walk(walker, asked.schedules, half, asked.threads, progress.walked)
        with interruptible(out, walker, walked, [f"--ablate {base.name}"]):
            broken = fuzzing.breaches(walker.protocols, settings, walked.tally)
            for part in fuzzing.findings_by_protocol(walker, broken, progress, certify, _ABLATION_MEMORY):
                found.add(part)
                for protocol in dict.fromkeys(each.protocol for each in part.findings):
                    out.print(summary.lengths(protocol, part.findings), soft_wrap=True)
    saved = saving.save(walker, found.findings) if saving is not None else []
    again = reproduction([f"--ablate {base.name}"], settings, walked.tally.schedules, asked.seed)
    summary.print_reproducers(out, summary.witnesses(found.findings), trace=asked.trace)
    out.print(summary.ablation_table(base, variants, found.findings))
    out.print(summary.pace(walked), f"\nreproduce: {again}", sep="")
    for variant in summary.harmless_variants(variants, found.findings):
        out.print(
            f"{variant} broke nothing here; more schedules or replicas, or a fault such as --power-loss, may do it"
        )
    idle = summary.idle_mechanisms(base, variants, found.findings)
    if asked.report is not None:
        write_report(out, asked.report, from_walk.page(walker, walked, found.findings, again))
    if asked.sarif is not None:
        write_sarif(out, asked.sarif, walker, found.findings, again)
    if saving is not None:
        saving.tell(out, saved)
    if asked.json:
        document: walks.Ablation = {
            **summary.walk_json(walker, walked, found.findings),
            "reproduce": again,
            "guards_nothing": idle,
        }
        print_json(document if saving is None else {**document, "saved": saved})
    tell_unfinished(out, found)
    if any(finding.protocol == base and finding.known_flaw is None for finding in found.findings):
        return Exit.BROKEN
    return Exit.GOAL_UNMET if idle else Exit.AS_EXPECTED


def _distinguish(asked: _Walk, breaks: Protocol, holds: Protocol, wanted: int) -> int:
    from epochfuzz.harness.engine.explore.distinguish import distinguish
    from epochfuzz.harness.trace.replay import replay
    from epochfuzz.harness.views.progress import show_search
    from epochfuzz.harness.views.terminal import side_by_side

    out, settings, seed = asked.out, asked.settings, asked.seed
    (property_,) = properties.names(wanted)
    out.print(f"seed {seed} · {settings.text()}")
    options.say_what_versions_stand_for(out, [breaks, holds])
    with show_search(out) as progress:
        distinction = distinguish(breaks, holds, settings, wanted, seed, asked.seconds, progress.searched)
    schedule = distinction.schedule
    if schedule is None:
        bound = "within the bounds" if distinction.complete else f"of fewer than {distinction.searched} events"
        out.print(f"no schedule {bound} breaks {property_} under {breaks.name} and nothing under {holds.name}")
    else:
        out.print(side_by_side(replay(schedule, breaks, settings), replay(schedule, holds, settings)))
        proof = "certified minimal" if distinction.certified_minimal else "not proven minimal"
        out.print(
            f"{breaks.name} breaks {property_} in {len(schedule)} events that break nothing under {holds.name}: {proof}"
        )
    if asked.json:
        document: walks.Distinction = {
            "seed": seed,
            "configuration": settings.changed(),
            "breaks": breaks.name,
            "holds": holds.name,
            "property": property_,
            "events": schedule_texts(schedule) if schedule is not None else None,
            "length": len(schedule) if schedule is not None else None,
            "certified_minimal": distinction.certified_minimal,
        }
        print_json(document)
    return Exit.GOAL_UNMET if schedule is None and not distinction.complete else Exit.AS_EXPECTED
