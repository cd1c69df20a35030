"""`epochfuzz fuzz`: compiled random schedules in this process, failures shrunk, certified and shown."""

import os
import secrets
from typing import Annotated

import typer

from harness.commands import options
from harness.commands.outcome import BadInput, Exit, console, print_json
from model.configuration import Configuration


@options.configured()
def fuzz(
    *,
    settings: Configuration,
    protocol: options.Protocols = ["hw", "kip-101"],  # noqa: B006 - typer reads the default, nobody writes to it
    schedules: Annotated[int | None, typer.Option("--schedules", min=1, help="How many schedules to walk.")] = None,
    for_: Annotated[str | None, typer.Option("--for", help="Walk for that long instead, such as 60s.")] = None,
    seed: options.Seed = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Threads; all cores if left out.")] = None,
    json: options.Json = False,
) -> int:
    """Walk random schedules under each protocol; shrink and certify what breaks.

    Examples:

    - `epochfuzz fuzz`
    - `epochfuzz fuzz --protocol hw --protocol kip-320 --replicas 3 --for 60s`
    - `epochfuzz fuzz --protocol kip-320:fencing=none --schedules 200000 --seed 7 --json`
    """
    protocols = options.parse_protocols(protocol)
    if schedules is not None and for_ is not None:
        raise BadInput("--schedules and --for both say when to stop: give one of them")
    seconds = options.parse_duration(for_) if for_ is not None else None
    if schedules is None and seconds is None:
        schedules = 200_000
    if seed is None:
        seed = secrets.randbelow(1 << 32)

    # Imported here so that help and mistakes are answered before anything is compiled.
    from harness import fuzz as fuzzing
    from harness import summary
    from harness.engine.walk import Walker
    from harness.progress import show_walk

    out = console(json)
    out.print(f"seed {seed} · {settings.text()}")
    walker = Walker(protocols, settings, seed)
    with show_walk(out, schedules, seconds) as progress:
        walked = fuzzing.walk(walker, schedules, seconds, jobs or os.cpu_count() or 1, progress.walked)
        found = fuzzing.findings(walker, walked.tally, progress.doing)
    tally = walked.tally
    events = int(tally.events.sum())
    again = _command_line(protocol, tally.schedules, seed, settings.changed())
    summary.print_reproducers(out, found, protocols, settings)
    out.print(summary.goals_table(protocols, settings, tally.goals))
    out.print(summary.verdict_table(protocols, settings, found))
    out.print(
        f"{tally.schedules:,} schedules, {events:,} events applied and checked in {walked.seconds:.1f} s"
        f" ({events / walked.seconds / 1e6:.1f} million/s)\nreproduce: {again}"
    )
    unmet = summary.unmet_goals(protocols, settings, tally.goals)
    for goal in unmet:
        out.print(f"goal never met: {goal}; more schedules (--schedules, --for) may meet it")
    if json:
        print_json(
            {
                "seed": seed,
                "configuration": settings.changed(),
                "protocols": [each.name for each in protocols],
                "schedules": tally.schedules,
                "events": events,
                "seconds": round(walked.seconds, 3),
                "events_per_second": round(events / walked.seconds),
                "goals": summary.goals_json(protocols, tally.goals),
                "unmet_goals": unmet,
                "findings": [summary.finding_json(finding, settings) for finding in found],
                "reproduce": again,
            }
        )
    if any(finding.known_flaw is None for finding in found):
        return Exit.BROKEN
    return Exit.GOAL_UNMET if unmet else Exit.AS_EXPECTED


def _command_line(protocols: list[str], schedules: int, seed: int, settings: dict[str, object]) -> str:
    words = ["epochfuzz fuzz", *(f"--protocol {name}" for name in protocols)]
    for key, value in settings.items():
        option = f"--{key.replace('_', '-')}"
        words.append(option if value is True else f"{option} {value}")
    return " ".join([*words, f"--schedules {schedules}", f"--seed {seed}"])
