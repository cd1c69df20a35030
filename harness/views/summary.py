"""Show the results of a random run: a table of properties by protocol, coverage goals, and timelines of violations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from epochfuzz.harness.engine.explore.certificates import Reproducer
from epochfuzz.harness.engine.walk.walking import Walked
from epochfuzz.harness.findings import goals
from epochfuzz.harness.findings.findings import Breach, Finding, ScheduleEngine
from epochfuzz.harness.text.printable import rate
from epochfuzz.harness.views import play_links
from epochfuzz.harness.views.terminal import draw
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary import goals as model_goals
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.state import initial

if TYPE_CHECKING:
    from epochfuzz.harness.documents import walks


def finding_json(finding: Finding) -> "walks.Finding":
    """Return the JSON form of a finding."""
    run = finding.witness.runs[finding.protocol.name]
    return {
        **finding.plain(),
        "fingerprint": run.fingerprint,
        "known_flaw": finding.known_flaw,
        **finding.causes.plain(),
        "play": play_links.to_finding(finding),
    }


def goals_json(protocols: Sequence[Protocol], met: np.ndarray) -> dict[str, dict[str, int]]:
    """Return the number of schedules that met each goal, by protocol. `met` has the shape (protocols, goals)."""
    return {
        protocol.name: dict(zip(model_goals.NAMES, (int(count) for count in row), strict=True))
        for protocol, row in zip(protocols, met, strict=True)
    }


def walk_json(walker: ScheduleEngine, walked: Walked, findings: Sequence[Finding]) -> "walks.Walk":
    """Return the JSON form of a random run and its results."""
    tally = walked.tally
    events = int(tally.events.sum())
    return {
        "seed": walker.seed,
        "configuration": walker.settings.changed(),
        "protocols": [protocol.name for protocol in walker.protocols],
        "schedules": tally.schedules,
        "events": events,
        "seconds": round(walked.seconds, 3),
        "events_per_second": round(events / walked.seconds),
        "goals": goals_json(walker.protocols, tally.goals),
        "unmet_goals": unmet_goals(walker.protocols, walker.settings, tally.goals),
        "findings": [finding_json(finding) for finding in findings],
    }


def pace(walked: Walked) -> str:
    """Return one line about a random run: the number of schedules and events, and the speed."""
    events = int(walked.tally.events.sum())
    return (
        f"{walked.tally.schedules:,} schedules, {events:,} events applied and checked in {walked.seconds:.1f} s"
        f" ({rate(events / walked.seconds)})"
    )


def witnesses(findings: Sequence[Finding]) -> list[Finding]:
    """Return the finding with the shortest schedule for each protocol. Among equal lengths, the first counts."""
    shortest: dict[Protocol, Finding] = {}
    for finding in findings:
        best = shortest.setdefault(finding.protocol, finding)
        if len(finding.reproducer.schedule) < len(best.reproducer.schedule):
            shortest[finding.protocol] = finding
    return list(shortest.values())


def ablation_table(base: Protocol, variants: Sequence[Protocol], findings: Sequence[Finding]) -> Table:
    """Return a table of an ablation, which replaces one mechanism of a protocol at a time by an earlier choice.

    A row is a variant of the protocol, and a column is a property. A cell has the number of events in the shortest
    schedule that breaks the property. A * marks a number that is proven shortest.
    """
    found = {(finding.protocol, finding.property): finding.reproducer for finding in findings}
    names = [name for name in properties.NAMES if any(name == broken for _, broken in found)]
    table = Table(title="Properties that each mechanism guards: events to break them, * minimal")
    table.add_column(f"{base.name}, but", no_wrap=True)
    for name in names:
        table.add_column(name.replace("-", "-\n"))
    for variant in variants:
        cells = [found.get((variant, name)) for name in names]
        switched = variant.name.removeprefix(base.name).lstrip(":,").replace("=", " =\n")
        table.add_row(switched, *map(_length, cells))
    return table


def lengths(protocol: Protocol, findings: Sequence[Finding]) -> Text:
    """Return the properties that a protocol breaks, each with the number of events that break it, in one line.

    A * marks a number that is proven shortest.
    """
    cells = [f"{each.property} {_length(each.reproducer)}" for each in findings if each.protocol == protocol]
    return Text(f"{protocol.name}: {', '.join(cells)}")


def _length(reproducer: Reproducer | None) -> str:
    return f"{len(reproducer.schedule)}{'*' * reproducer.certified_minimal}" if reproducer else "-"


def harmless_variants(variants: Sequence[Protocol], findings: Sequence[Finding]) -> list[str]:
    """Return the names of the protocols in `variants` that broke nothing."""
    broken = {finding.protocol for finding in findings}
    return [variant.name for variant in variants if variant not in broken]


def idle_mechanisms(base: Protocol, variants: Sequence[Protocol], findings: Sequence[Finding]) -> list[str]:
    """Return the mechanisms that broke no property when they were switched back to an earlier choice."""
    broken = {finding.protocol for finding in findings}
    switched = {
        mechanism: [variant for variant in variants if variant.choice(mechanism) != base.choice(mechanism)]
        for mechanism in MECHANISMS
    }
    return [mechanism for mechanism, back in switched.items() if back and broken.isdisjoint(back)]


def unmet_goals(protocols: Sequence[Protocol], settings: Configuration, met: np.ndarray) -> list[str]:
    """Return the required coverage goals that no schedule met, as `goal (protocol)`."""
    counts = goals_json(protocols, met)
    return [
        f"{goal} ({protocol.name})"
        for protocol in protocols
        for goal in goals.asked_for(protocol, settings)
        if counts[protocol.name][goal] == 0
    ]


def verdict_table(protocols: Sequence[Protocol], settings: Configuration, findings: Sequence[Finding]) -> Table:
    """Return a table of properties by protocol.

    A cell has the result, such as `not broken`, `known bug in 9 events, minimal` or `BROKEN in 9 events, minimal`.
    """
    found = {(finding.protocol, finding.property): finding for finding in findings}
    table = Table("property", *(protocol.name for protocol in protocols), title="Properties by protocol")
    applying = [properties.applying(initial(protocol, settings)) for protocol in protocols]
    for name in properties.NAMES:
        if name in properties.permitted(settings):
            cells = [Text("not promised", "dim")] * len(protocols)
        else:
            cells = [
                _verdict(found.get((protocol, name))) if name in of_protocol else Text("-", "dim")
                for protocol, of_protocol in zip(protocols, applying, strict=True)
            ]
        if any(name in of_protocol for of_protocol in applying):
            table.add_row(name, *cells)
    return table


def _verdict(finding: Finding | None) -> Text:
    if finding is None:
        return Text("not broken")
    length = len(finding.reproducer.schedule)
    proof = "minimal" if finding.reproducer.certified_minimal else "not proven minimal"
    if finding.known_flaw:
        return Text.assemble((f"{finding.causes.status} bug", "bold"), f" in {length} events, {proof}")
    return Text.assemble(("BROKEN", "bold reverse"), f" in {length} events, {proof}")


def goals_table(protocols: Sequence[Protocol], settings: Configuration, met: np.ndarray) -> Table:
    """Return a table of coverage goals by protocol, with the number of schedules that met each goal.

    A required goal that no schedule met stands out.
    """
    table = Table("goal", *(protocol.name for protocol in protocols), title="Coverage goals: schedules that met each")
    asked = [set(goals.asked_for(protocol, settings)) for protocol in protocols]
    for bit, name in enumerate(model_goals.NAMES):
        if any(name in wanted for wanted in asked) or met[:, bit].any():
            table.add_row(name, *(_goal(int(met[i, bit]), name in wanted) for i, wanted in enumerate(asked)))
    return table


def _goal(count: int, asked: bool) -> Text:
    if asked and count == 0:
        return Text("NEVER", "bold reverse")
    return Text(f"{count:,}" if count else "-")


def reproducer(finding: Finding, also: Sequence[str] = ()) -> RenderableType:
    """Return the timeline of a finding, next to the timeline of a protocol that keeps the property (if there is one).

    `also` names further properties that the same schedule breaks.
    """
    names = " and ".join((finding.property, *also))
    title = Text.assemble(
        "\n",
        (f"{finding.protocol.name} breaks {names}", "bold"),
        f" in {len(finding.witness.schedule)} events\n",
        f"{proof(finding)}\n{finding.causes.sentence}",
    )
    return Group(title, draw(finding.witness.story(finding.protocol, finding.property)))


def proof(finding: Finding) -> str:
    """Return a text about a finding's schedule: whether it is proven shortest, and its length before shrinking."""
    proven = finding.reproducer.proven
    if finding.reproducer.certified_minimal:
        proven += ": exhaustive search found nothing shorter"
    return f"{proven}; shrunk from {finding.shrunk_from} events of schedule {finding.schedule}"


def print_reproducers(out: Console, findings: Sequence[Finding], *, trace: bool = False) -> None:
    """Print every distinct schedule of the findings once.

    A known bug takes one line, and other findings are drawn step by step. With `trace`, all schedules are drawn. The
    order is reversed, so that the most important finding is at the end of the terminal's output.
    """
    together = by_reproducer(findings)
    is_drawn = [trace or any(finding.known_flaw is None for finding in same) for same in together]
    for same, drawn in reversed(list(zip(together, is_drawn, strict=True))):
        if not drawn:
            out.print(_line(same), highlight=False, soft_wrap=True)
            play_links.show(out, play_links.to_finding(same[0]))
    for same, drawn in reversed(list(zip(together, is_drawn, strict=True))):
        if drawn:
            out.print(reproducer(same[0], [finding.property for finding in same[1:]]))
            play_links.show(out, play_links.to_finding(same[0]))


def _line(same: Sequence[Finding]) -> Text:
    """Return one line for findings with a common schedule."""
    names = " and ".join(finding.property for finding in same)
    events = len(same[0].witness.schedule)
    causes = same[0].causes
    told = f"{causes.status} bug: {causes.text}"
    return Text(f"{same[0].protocol.name} breaks {names} in {events} events, {same[0].reproducer.proven}: {told}")


def standing(finding: Finding) -> Text:
    """Return one line for a finding whose schedule may still get shorter."""
    events = len(finding.reproducer.schedule)
    proven = finding.reproducer.proven
    return Text(f"{finding.protocol.name} breaks {finding.property} in {events} events, {proven}")


def unshrunk(breach: Breach) -> str:
    """Return one line for a violation whose schedule was not shrunk."""
    return (
        f"{breach.protocol.name} breaks {breach.property}: {breach.seen:,} schedules,"
        f" the shortest after {breach.failures[0].length} events"
    )


def by_reproducer(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Return the findings in groups. The findings of a group have the same protocol and the same schedule."""
    together: dict[tuple[Protocol, bytes], list[Finding]] = {}
    for finding in findings:
        together.setdefault((finding.protocol, finding.reproducer.schedule), []).append(finding)
    return list(together.values())
