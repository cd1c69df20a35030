"""What a run found, for people: property by protocol, the goals it met, and each reproducer as a timeline."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness import goals
from harness.fuzz import Finding
from harness.replay import Run, replay
from harness.timeline import side_by_side, timeline
from model import goals as model_goals
from model import properties
from model.configuration import Configuration
from model.events import schedule_texts
from model.protocols import Protocol


def finding_json(finding: Finding, settings: Configuration) -> dict[str, Any]:
    """The JSON form of a finding."""
    reproducer = finding.reproducer
    return {
        "protocol": finding.protocol.name,
        "property": finding.property,
        "events": schedule_texts(reproducer.schedule),
        "length": len(reproducer.schedule),
        "certified_minimal": reproducer.certified_minimal,
        "seen": finding.seen,
        "schedule": finding.schedule,
        "shrunk_from": finding.shrunk_from,
        "fingerprint": replay(reproducer.schedule, finding.protocol, settings).fingerprint,
        "known_flaw": finding.known_flaw,
    }


def goals_json(protocols: Sequence[Protocol], met: np.ndarray) -> dict[str, dict[str, int]]:
    """For each protocol the number of schedules that met each goal; `met` has axes protocol and goal."""
    return {
        protocol.name: dict(zip(model_goals.NAMES, (int(count) for count in row), strict=True))
        for protocol, row in zip(protocols, met, strict=True)
    }


def unmet_goals(protocols: Sequence[Protocol], settings: Configuration, met: np.ndarray) -> list[str]:
    """`goal (protocol)` for each goal that applies and that no schedule met."""
    counts = goals_json(protocols, met)
    return [
        f"{goal} ({protocol.name})"
        for protocol in protocols
        for goal in goals.asked_for(protocol, settings)
        if counts[protocol.name][goal] == 0
    ]


def verdict_table(protocols: Sequence[Protocol], settings: Configuration, findings: Sequence[Finding]) -> Table:
    """Property by protocol: holds, or broken with the length of the reproducer."""
    found = {(finding.protocol, finding.property): finding for finding in findings}
    table = Table("property", *(protocol.name for protocol in protocols), title="Properties by protocol")
    for name in properties.PROPERTIES:
        if name in properties.permitted(settings):
            cells = [Text("not promised", "dim")] * len(protocols)
        else:
            cells = [_verdict(found.get((protocol, name))) for protocol in protocols]
        table.add_row(name, *cells)
    return table


def _verdict(finding: Finding | None) -> Text:
    if finding is None:
        return Text("not broken")
    length = len(finding.reproducer.schedule)
    proof = "minimal" if finding.reproducer.certified_minimal else "not proven minimal"
    if finding.known_flaw:
        return Text.assemble(("broken", "bold"), f" in {length} events, {proof} (known)")
    return Text.assemble(("BROKEN", "bold reverse"), f" in {length} events, {proof}")


def goals_table(protocols: Sequence[Protocol], settings: Configuration, met: np.ndarray) -> Table:
    """Goal by protocol: how many schedules met it; what is asked for and unmet stands out."""
    table = Table("goal", *(protocol.name for protocol in protocols), title="Goals: schedules that showed")
    asked = [set(goals.asked_for(protocol, settings)) for protocol in protocols]
    for bit, name in enumerate(model_goals.NAMES):
        if any(name in wanted for wanted in asked) or met[:, bit].any():
            table.add_row(name, *(_goal(int(met[i, bit]), name in wanted) for i, wanted in enumerate(asked)))
    return table


def _goal(count: int, asked: bool) -> Text:
    if asked and count == 0:
        return Text("NEVER", "bold reverse")
    return Text(f"{count:,}" if count else "-")


def reproducer(
    finding: Finding, others: Sequence[Protocol], settings: Configuration, also: Sequence[str] = ()
) -> RenderableType:
    """A finding's timeline; beside it, where one of the other protocols loses nothing on the same events, that one's.

    `also` names further properties for which this is the reproducer.
    """
    run = replay(finding.reproducer.schedule, finding.protocol, settings)
    spared = _spared(run, finding.property, others, settings)
    names = " and ".join((finding.property, *also))
    title = Text.assemble(
        "\n", (f"{finding.protocol.name} breaks {names}", "bold"), f" in {len(run.steps)} events\n", _proof(finding)
    )
    return Group(title, side_by_side(run, spared) if spared else timeline(run))


def _spared(run: Run, property_: str, others: Sequence[Protocol], settings: Configuration) -> Run | None:
    schedule = bytes(step.event for step in run.steps)
    for protocol in others:
        other = replay(schedule, protocol, settings)
        if protocol != run.protocol and property_ not in other.first_broken:
            return other
    return None


def _proof(finding: Finding) -> str:
    reproducer = finding.reproducer
    if reproducer.certified_minimal:
        proof = "certified minimal: complete search found nothing shorter"
    else:
        proof = f"not proven minimal: memory ended the search, nothing shorter than {reproducer.searched} events exists"
    return f"{proof}; shrunk from {finding.shrunk_from} events of schedule {finding.schedule}"


def print_reproducers(
    out: Console, findings: Sequence[Finding], protocols: Sequence[Protocol], settings: Configuration
) -> None:
    """Print every distinct reproducer once, whatever the number of properties it breaks."""
    together: dict[tuple[Protocol, bytes], list[Finding]] = {}
    for finding in findings:
        together.setdefault((finding.protocol, finding.reproducer.schedule), []).append(finding)
    for same in together.values():
        out.print(reproducer(same[0], protocols, settings, [finding.property for finding in same[1:]]))
