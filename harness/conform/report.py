"""What a run of conformance found, for people: the steps up to the fault, then the subject beside the model."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from epochfuzz.harness.cases.case import log_texts
from epochfuzz.harness.cases.judgement import differences
from epochfuzz.harness.conform.fault import Kind, shown
from epochfuzz.harness.conform.finding import Finding
from epochfuzz.harness.conform.judge import FIELDS, OWN
from epochfuzz.harness.conform.lockstep import comparable, ordered
from epochfuzz.harness.conform.plan import Plan
from epochfuzz.harness.conform.run import Outcome
from epochfuzz.harness.conform.wire import Observation
from epochfuzz.harness.views.terminal import timeline
from epochfuzz.harness.witness.replay import Run, replay
from epochfuzz.model.events import REPLICA_NAMES, VERBS, event_text, schedule_texts, verb_of


def finding_text(finding: Finding) -> RenderableType:
    """A finding: what is wrong, the schedule step by step, and what was to be seen at its end."""
    parts: list[RenderableType] = [_title(finding)]
    if finding.failure.sent and not finding.known_flaw:
        run = replay(finding.failure.sent, finding.protocol, finding.trial.settings)
        parts.append(_observed(finding) if finding.fault.kind is Kind.PROMISE else timeline(run))
        if finding.fault.kind is Kind.DIFFERENCE:
            parts.append(_beside(run, finding))
    if finding.fault.output:
        parts.append(Text(f"What it printed:\n{finding.fault.output}"))
    return Group(*parts)


def summary(outcome: Outcome, plan: Plan) -> Iterator[str]:
    """How much was run and how fast, and what it leaves open; a line each."""
    verdict = "conforms" if outcome.conforms else "does NOT conform"
    protocols = ", ".join(protocol.name for protocol in plan.protocols)
    yield f"The subject {verdict} to {protocols}, judged by {plan.judgement}:"
    yield (
        f"{outcome.schedules:,} schedules and {outcome.cases} cases, {outcome.shown.steps:,} steps in"
        f" {outcome.seconds:.1f} s ({outcome.steps_per_second:,} steps/s)"
    )
    if outcome.given_up:
        yield "Not all schedules were run: too few answers could be judged."
    for case, reason in outcome.unable.items():
        yield f"Case {case} was not run, the subject is unable to: {reason}"
    for title, names in (
        ("Events that were never applied", never_applied(outcome, plan)),
        ("Fields that were never shown, so never compared", never_shown(outcome)),
        ("Fields of the subject's own, shown and not compared", own_fields(outcome)),
        ("Fields that mean nothing here", unknown_fields(outcome)),
    ):
        if names and outcome.shown.steps:
            yield f"{title}: {', '.join(names)}"


def document(outcome: Outcome, plan: Plan, saved: Mapping[int, Path]) -> dict[str, Any]:
    """The JSON form of an outcome; `saved` has the case file of a finding by its place."""
    return {
        "conforms": outcome.conforms,
        "seed": plan.seed,
        "configuration": plan.settings.changed(),
        "protocols": [protocol.name for protocol in plan.protocols],
        "judgement": str(plan.judgement),
        "schedules": outcome.schedules,
        "cases": outcome.cases,
        "steps": outcome.shown.steps,
        "seconds": round(outcome.seconds, 3),
        "steps_per_second": outcome.steps_per_second,
        "given_up": outcome.given_up,
        "never_applied": never_applied(outcome, plan),
        "never_shown": never_shown(outcome),
        "own_fields": own_fields(outcome),
        "unknown_fields": unknown_fields(outcome),
        "unable": outcome.unable,
        "findings": [_finding_json(each, saved.get(number)) for number, each in enumerate(outcome.findings)],
    }


def _finding_json(finding: Finding, saved: Path | None) -> dict[str, Any]:
    return {
        "protocol": finding.protocol.name,
        "kind": str(finding.fault.kind),
        "events": schedule_texts(finding.failure.sent),
        "length": len(finding.failure.sent),
        "field": finding.fault.field,
        "expected": finding.fault.expected,
        "observed": finding.fault.observed,
        "output": finding.fault.output,
        "seen": finding.seen,
        "schedule": finding.trial.number,
        "case": finding.trial.case,
        "shrunk_from": finding.shrunk_from,
        "configuration": finding.trial.settings.changed(),
        "known_flaw": finding.known_flaw,
        "saved": str(saved) if saved else None,
    }


def never_applied(outcome: Outcome, plan: Plan) -> list[str]:
    """The verbs that the configuration makes possible and that no schedule applied, or the subject does not support."""
    possible = {VERBS[verb_of(event)] for event in plan.settings.alphabet()}
    return [verb for verb in VERBS if verb in possible and not outcome.shown.applied[verb]]


def never_shown(outcome: Outcome) -> list[str]:
    """The fields that no observation had."""
    return [field for field in FIELDS if not outcome.shown.fields[field]]


def unknown_fields(outcome: Outcome) -> list[str]:
    """The fields of observations that are not of the protocol, perhaps misspelt."""
    return sorted(outcome.shown.fields.keys() - {*FIELDS, *own_fields(outcome)})


def own_fields(outcome: Outcome) -> list[str]:
    """The fields of observations that the subject has declared to be its own."""
    return sorted(field for field in outcome.shown.fields if field.split(".")[1:2] == [OWN])


def _title(finding: Finding) -> Text:
    sent = finding.failure.sent
    origin = f"case {finding.trial.case}" if finding.trial.case else f"schedule {finding.trial.number}"
    after = f"after event {len(sent)}, {event_text(sent[-1])}" if sent else "at the reset"
    shrunk = f", shrunk from {finding.shrunk_from} events" if finding.shrunk_from > len(sent) else ""
    seen = "once" if finding.seen == 1 else f"{finding.seen:,} times"
    known = f"\nno news under {finding.protocol.name}: {finding.known_flaw}" if finding.known_flaw else ""
    return Text.assemble(
        "\n",
        (f"{finding.fault.kind} under {finding.protocol.name}: {finding.fault.sentence}", "bold"),
        f"\n{after}; {origin}{shrunk}, seen {seen}{known}",
    )


def _beside(run: Run, finding: Finding) -> Table:
    """Whatever differs at the end of the schedule; what is judged is the first of it."""
    applied, observation = finding.answers[-1]
    model = {"applied": run.steps[-1].applied, **comparable(run.steps[-1].state)}
    subject = {"applied": applied, **ordered(observation)}
    table = Table("field", "model", "subject", title=f"After event {len(run.steps)}")
    for where, observed, expected in differences(subject, model):
        table.add_row(".".join(where), Text(shown(expected)), Text(shown(observed), "bold"))
    for name, value in _own(observation):
        table.add_row(name, "", Text(shown(value)))
    return table


def _own(observation: Observation) -> Iterator[tuple[str, Any]]:
    """What the subject shows of its own, with the names of the fields."""
    seen: dict[str, Any] = dict(observation)
    parts = {f"replicas.{name}": replica for name, replica in sorted(seen.get("replicas", {}).items())}
    for part, values in {**parts, "controller": seen.get("controller", {})}.items():
        yield from ((f"{part}.{OWN}.{field}", value) for field, value in values.get(OWN, {}).items())


def _observed(finding: Finding) -> Table:
    """What the subject showed after each event."""
    names = REPLICA_NAMES[: finding.trial.settings.replicas]
    table = Table("", "event", *names, "controller")
    for number, (event, (applied, observation)) in enumerate(
        zip(finding.failure.sent, finding.answers, strict=False), 1
    ):
        parts = ordered(observation)
        own = dict(_own(observation))
        replicas = (Text(_replica(parts["replicas"].get(name, {}), _of(name, own))) for name in names)
        style = "" if applied else "dim"
        table.add_row(str(number), event_text(event), *replicas, Text(_controller(parts["controller"])), style=style)
    return table


def _of(replica: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """What is a replica's of the subject's own."""
    part = f"replicas.{replica}.{OWN}."
    return {field.removeprefix(part): value for field, value in own.items() if field.startswith(part)}


def _replica(seen: dict[str, Any], own: dict[str, Any]) -> str:
    if seen.get("up") is False:
        return "down"
    figures = [f"{field} {shown(seen[field])}" for field in ("hw", "leader", "leader_epoch") if field in seen]
    figures += [f"{field} {shown(value)}" for field, value in own.items()]
    return "\n".join([" ".join(log_texts(seen.get("log", []))) or "-", ", ".join(figures)])


def _controller(seen: dict[str, Any]) -> str:
    return "\n".join(f"{field} {shown(value)}" for field, value in seen.items())
