"""`epochfuzz fuzz`: run compiled random schedules in this process, and shrink, certify and show the failures."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.output import BadInput, console
from epochfuzz.harness.cli.runs.fuzz_request import FuzzRequest
from epochfuzz.harness.cli.saving import Saving
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

DEFAULT_SCHEDULES = 200_000
ABLATION_SECONDS = 120.0  # one half for the random runs, the other half to shrink their findings

Schedules = Annotated[int | None, typer.Option("--schedules", min=1, help="Number of schedules to run.")]
For = Annotated[str | None, typer.Option("--for", help="Time to run, such as 60s, instead of --schedules.")]
Jobs = Annotated[int | None, typer.Option("--jobs", min=1, help="Threads; all cores if left out.")]
Ablate = Annotated[
    str | None,
    options.protocol_option(
        "--ablate", help="Revert each mechanism of this protocol alone, to see which property it protects."
    ),
]
Breaks = Annotated[str | None, options.protocol_option("--breaks", help="With --holds: the protocol to break.")]
Holds = Annotated[str | None, options.protocol_option("--holds", help="With --breaks: the protocol that must hold.")]
Trace = Annotated[bool, typer.Option("--trace", help="Also show known bugs step by step.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="Save findings as cases in this directory. To resume, repeat the command."),
]
New = Annotated[
    bool,
    typer.Option("--new", help="With --out: save only findings that are new or suspected, and not in the corpus."),
]
Corpus = Annotated[
    Path | None, typer.Option("--corpus", help="The corpus that --new compares with; ./corpus if left out.")
]


@options.configured()
def fuzz(
    *,
    settings: Configuration,
    context: typer.Context,
    protocol: options.Protocols = ["hw", "kip-101"],  # noqa: B006 - typer only reads the default
    schedules: Schedules = None,
    for_: For = None,
    model: options.OwnModel = None,
    seed: options.Seed = None,
    jobs: Jobs = None,
    ablate: Ablate = None,
    breaks: Breaks = None,
    holds: Holds = None,
    property_: options.Property = "no-committed-loss",
    trace: Trace = False,
    certify: options.Certify = options.CERTIFY,
    report: options.Report = None,
    sarif: options.Sarif = None,
    out_: Out = None,
    new: New = False,
    corpus: Corpus = None,
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
    asked = FuzzRequest(
        out=console(json),
        settings=settings,
        schedules=schedules,
        seconds=None if for_ is None else options.parse_duration(for_),
        given_seed=seed,
        threads=jobs or os.cpu_count() or 1,
        trace=trace,
        report=report,
        sarif=sarif,
        json=json,
        certify=options.parse_certify(certify),
    )
    if model is not None:
        return _own(context, asked, model)
    wanted = options.parse_property(property_)
    if breaks is not None or holds is not None:
        return _distinguish(context, asked, breaks, holds, wanted)
    _refuse_what_is_not_used(context)
    _refuse_two_ends(asked)
    asked = replace(asked, saving=Saving.asked(out_, new, corpus))
    return _ablate(context, asked, ablate) if ablate is not None else _walk(asked, protocol)


# Imports are inside the functions, so that help and errors are printed before anything is compiled.


def _own(context: typer.Context, asked: FuzzRequest, model: str) -> int:
    """Run random schedules of a user's own model. Returns the exit code."""
    _refuse_two_ends(asked)
    options.refuse_for_own_model(context, "protocol", "schedules", "for_", "seed", "jobs", "certify", "json")
    named: Sequence[str] = context.params["protocol"] if "protocol" in options.given(context) else [""]
    given: Mapping[str, Any] = options.given_settings(context)

    from epochfuzz.harness.own import loading

    loaded = loading.load(model)
    parsed = [loading.protocol_of(loaded, each) for each in dict.fromkeys(named)]
    settings = loading.settings_of(loaded, given)

    from epochfuzz.harness.own import commands

    return commands.fuzz(replace(asked, settings=settings).within(schedules=DEFAULT_SCHEDULES).seeded(), parsed)


def _distinguish(context: typer.Context, asked: FuzzRequest, breaks: str | None, holds: str | None, wanted: int) -> int:
    if breaks is None or holds is None:
        raise BadInput("--breaks needs --holds, and --holds needs --breaks; give both")
    _refuse_what_is_not_used(context)
    (to_break,), (to_hold,) = options.parse_protocols([breaks]), options.parse_protocols([holds])
    if to_break.numbers() == to_hold.numbers():
        raise BadInput("--breaks and --holds name the same protocol; name protocols with different rules")

    from epochfuzz.harness.cli.runs.fuzz_modes import distinguish_protocols

    return distinguish_protocols(asked.seeded(), to_break, to_hold, wanted)


def _ablate(context: typer.Context, asked: FuzzRequest, base: str) -> int:
    (parsed,) = options.parse_protocols([base])

    from epochfuzz.harness.cli.runs.fuzz_modes import ablate_protocol

    return ablate_protocol(
        asked.within(seconds=ABLATION_SECONDS), parsed, proofs_are_bounded="certify" in options.given(context)
    )


def _walk(asked: FuzzRequest, protocol: list[str]) -> int:
    parsed = options.parse_protocols(protocol)

    from epochfuzz.harness.cli.runs.fuzz_modes import walk_protocols

    return walk_protocols(asked.within(schedules=DEFAULT_SCHEDULES), parsed)


def _refuse_two_ends(asked: FuzzRequest) -> None:
    if asked.schedules is not None and asked.seconds is not None:
        raise BadInput("--schedules can't be combined with --for; give only one")


_SAVING = ("out_", "new", "corpus")

# Each key has the options that select a mode of fuzz. Its value has the options without a meaning in this mode.
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
