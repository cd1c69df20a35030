"""Show the results of a conformance run, which compares a system under test with the model.

A discrepancy is shown with the events up to it, and with the observed state next to the model's state.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from epochfuzz.harness.cases.case import log_texts
from epochfuzz.harness.cases.verdict import differences
from epochfuzz.harness.conform.oracle import met
from epochfuzz.harness.conform.oracle.client_guarantees import REPORTED_BY_CLIENTS
from epochfuzz.harness.conform.oracle.judge import FIELDS, OWN, JudgedBy, meant
from epochfuzz.harness.conform.oracle.lockstep import LockStep, beside, is_from_reset, ordered
from epochfuzz.harness.conform.oracle.next_event import NextEvent, next_event
from epochfuzz.harness.conform.protocol.discrepancy import DiscrepancyKind, shown
from epochfuzz.harness.conform.protocol.wire import Observation
from epochfuzz.harness.conform.run.block import Trial
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.conform.run.selection import SMALL
from epochfuzz.harness.engine.explore.certificates import Reproducer
from epochfuzz.harness.engine.explore.estimate import Estimate, estimate_json
from epochfuzz.harness.findings.chance import of_new_finding
from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.harness.views import play_links
from epochfuzz.harness.views.terminal import timeline
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.properties import BY_NAME
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, Verb, event_text, schedule_texts
from epochfuzz.model.kafka.vocabulary.state import Partition, initial

if TYPE_CHECKING:
    from epochfuzz.harness.documents import conformance as documents
    from epochfuzz.harness.documents import parts

_MOST_LISTED = 30  # names in a line, more than the number of verbs or of the protocol's fields


def nonconformity_text(nonconformity: ConformanceFinding, proof: Reproducer | None = None) -> RenderableType:
    """Return the drawing of a finding: its discrepancy, its schedule step by step, and the states at its end.

    `proof` is the result of the search for a shorter schedule in the model, or None.
    """
    return Group(_title(nonconformity, proof), steps(nonconformity))


def steps(nonconformity: ConformanceFinding) -> RenderableType:
    """Return the drawing of a finding without its title."""
    parts: list[RenderableType] = []
    if nonconformity.sighting.sent and not nonconformity.known_flaw:
        run = replay(nonconformity.sighting.sent, nonconformity.protocol, nonconformity.trial.settings)
        parts.append(_observed(nonconformity) if nonconformity.fault.kind is DiscrepancyKind.PROMISE else timeline(run))
        if nonconformity.fault.kind is DiscrepancyKind.DIFFERENCE:
            parts.append(_beside(run, nonconformity))
    if nonconformity.fault.output and not nonconformity.known_flaw:
        title = "" if nonconformity.fault.kind is DiscrepancyKind.PROMISE else "Its output:\n"
        parts.append(Text(f"{title}{nonconformity.fault.output}"))
    return Group(*parts)


def interrupted(conformance: Conformance, plan: Plan) -> Iterator[str]:
    """Yield lines about a run that Ctrl-C ended: failures that were not shrunk, and the number of schedules."""
    for protocol, failed in conformance.unshrunk:
        flaw = failed.known_flaw(protocol)
        yield (
            f"{failed.fault.kind} under {protocol.name}: {failed.fault.sentence}; after {len(failed.sighting.sent)}"
            f" events of {_origin(failed.trial)}, not shrunk, seen {_times(failed.seen)}"
            + (f"; known bug: {flaw}" if flaw else "")
        )
    yield f"interrupted after {conformance.schedules:,} of {plan.schedules:,} schedules of seed {plan.seed}"


def summary(conformance: Conformance, plan: Plan) -> Iterator[str]:
    """Yield lines that summarize a conformance run: verdict, numbers, speed, and the checks that were not possible."""
    verdict = "conforms" if conformance.conforms else "does NOT conform"
    verdict = "was not compared with the model: it neither conforms nor fails" if conformance.vacuous else verdict
    protocols = ", ".join(protocol.name for protocol in plan.protocols)
    yield f"The system under test {verdict} to {protocols}, checked by {plan.judged_by}{_share(conformance, plan)}:"
    yield (
        f"{conformance.schedules:,} schedules and {conformance.cases} cases, {conformance.shown.steps:,} steps in"
        f" {conformance.seconds:.1f} s ({conformance.steps_per_second:,} steps/s)"
    )
    if conformance.schedules:
        yield f"One more such schedule shows a new kind of finding with probability {_chance(conformance).text}"
    if conformance.given_up:
        yield "Not all schedules were run: too few replies could be checked."
    for reason in dict.fromkeys(conformance.unable.values()):
        cases = ", ".join(case for case, why in conformance.unable.items() if why == reason)
        yield f"Not tested ({reason}): {cases}"
    yield from left_open(conformance, plan)


def _chance(conformance: Conformance) -> Estimate:
    return of_new_finding(conformance.schedules, (each.seen for each in conformance.nonconformities))


def left_open(conformance: Conformance, plan: Plan) -> Iterator[str]:
    """Yield lines with the properties that a run checked, and with the properties, events and fields that it missed."""
    lacking = not_judged(conformance, plan)
    for title, names in (
        ("Properties checked", judged(conformance, plan)),
        (
            "Properties that could not be checked, because fields are missing",
            [f"{name} ({', '.join(fields)})" for name, fields in lacking.items() if fields],
        ),
        (
            "Properties that no field shows, so never checked",
            [name for name, fields in lacking.items() if not fields],
        ),
        ("Events that were never applied", never_applied(conformance, plan)),
        ("Fields that were never shown, so never compared", never_shown(conformance, plan)),
        ("Fields of the adapter's own, shown and not compared", own_fields(conformance)),
        ("Fields that mean nothing here", _with_suggestions(conformance, plan)),
    ):
        if names and conformance.shown.steps:
            yield f"{title}: {_listed(names)}"
    if conformance.shown.steps:
        yield from _unmet(conformance, plan)
        following = next_to_support(conformance, plan)
        if following is not None:
            points = "1 coverage point" if len(following.opens) == 1 else f"{len(following.opens)} coverage points"
            yield f"Next event to support: {following.verb.text}, which opens {points}"


def _unmet(conformance: Conformance, plan: Plan) -> Iterator[str]:
    """Yield lines: how many coverage points the run never reached, and how many of them `--exhaustive` would reach."""
    if conformance.shown.met is None:
        yield "Never met: not recorded, because an older epochfuzz began this campaign; use a new directory"
    unmet = never_met(conformance, plan)
    if unmet is None:
        return
    of_kinds = {kind: unmet[kind] for kind in met.KINDS}  # type: ignore[literal-required]
    if not any(each["names"] for each in of_kinds.values()):
        return
    parts = [f"{len(each['names'])} of {each['there_are']} {kind}" for kind, each in of_kinds.items()]
    within = sum(len(each["within_bounds"]) for each in of_kinds.values())
    yield f"Never met: {', '.join(parts)}; --json has their names"
    if within:
        bounds = bounds_text(Configuration().changed_to(SMALL))
        yield f"--exhaustive would meet at least {within} of these, with {bounds}"


def bounds_text(settings: Configuration) -> str:
    """Return the bounds of an exhaustive run as text, such as `2 replicas, 1 record and 2 epoch changes`."""
    return (
        f"{settings.replicas} replicas, {settings.records} record{'s' * (settings.records != 1)}"
        f" and {settings.epochs} epoch change{'s' * (settings.epochs != 1)}"
    )


def _listed(names: list[str]) -> str:
    """Return the first 30 names of a list as text, and the number of other names. An adapter can invent many names."""
    more = [f"and {len(names) - _MOST_LISTED:,} more"] if len(names) > _MOST_LISTED else []
    return ", ".join([*map(shown, names[:_MOST_LISTED]), *more])


def document(
    conformance: Conformance, plan: Plan, saved: Mapping[int, Path], proven: Sequence[Reproducer | None]
) -> "documents.Run":
    """Return the JSON form of a conformance run.

    `saved` maps the index of a finding to its case file. `proven` has an entry for each finding: the result of
    the search for a shorter schedule in the model, or None.
    """
    return {
        "conforms": conformance.conforms,
        "seed": plan.seed,
        "configuration": plan.settings.changed(),
        "protocols": [protocol.name for protocol in plan.protocols],
        "judgement": str(plan.judged_by),
        "schedules": conformance.schedules,
        "cases": conformance.cases,
        "steps": conformance.shown.steps,
        "seconds": round(conformance.seconds, 3),
        "steps_per_second": conformance.steps_per_second,
        "estimate": estimate_json(_chance(conformance)),
        "given_up": conformance.given_up,
        "never_applied": never_applied(conformance, plan),
        "never_shown": never_shown(conformance, plan),
        "never_met": never_met(conformance, plan),
        "next_event": _next_event_json(conformance, plan),
        "judged": judged(conformance, plan),
        "not_judged": not_judged(conformance, plan),
        "own_fields": own_fields(conformance),
        "unknown_fields": unknown_fields(conformance, plan),
        "unable": conformance.unable,
        "findings": [
            _nonconformity_json(each, saved.get(number), proof)
            for number, (each, proof) in enumerate(zip(conformance.nonconformities, proven, strict=True))
        ],
    }


def _nonconformity_json(
    nonconformity: ConformanceFinding, saved: Path | None, proof: Reproducer | None
) -> "documents.Nonconformity":
    document: documents.Nonconformity = {
        "protocol": nonconformity.protocol.name,
        "kind": str(nonconformity.fault.kind),
        "events": schedule_texts(nonconformity.sighting.sent),
        "length": len(nonconformity.sighting.sent),
        "field": nonconformity.fault.field,
        "expected": nonconformity.fault.expected,
        "observed": nonconformity.fault.observed,
        "output": nonconformity.fault.output,
        "seen": nonconformity.seen,
        "schedule": nonconformity.trial.number,
        "case": nonconformity.trial.case,
        "shrunk_from": nonconformity.shrunk_from,
        **_proven(nonconformity.sighting.sent, proof),
        "configuration": nonconformity.trial.settings.changed(),
        "known_flaw": nonconformity.known_flaw,
        "saved": str(saved) if saved else None,
        "play": play_links.to_difference(nonconformity),
    }
    if nonconformity.causes is None:
        return document
    explained: documents.ExplainedNonconformity = {**document, **nonconformity.causes.plain()}
    return explained


def _proven(sent: bytes, proof: Reproducer | None) -> "parts.Proof":
    """Return the JSON form of the proof that no schedule is shorter than `sent`, the events that the adapter received.

    If the search in the model found a shorter schedule, `sent` is not certified minimal.
    """
    plain = (proof or Reproducer(sent, certified_minimal=False, searched=0)).plain()
    if proof is not None and proof.schedule != sent:
        plain["certified_minimal"], plain["minimal_within"] = False, None
    return plain


def never_applied(conformance: Conformance, plan: Plan) -> list[str]:
    """Return the verbs that the run never applied. The result excludes verbs that no protocol of the run can enable."""
    starts = _starts(plan)
    return [verb.text for verb in Verb if any(map(verb.possible, starts)) and not conformance.shown.applied[verb.text]]


def next_to_support(conformance: Conformance, plan: Plan) -> NextEvent | None:
    """Return the event that the adapter should support next, or None if the run has sent every possible event.

    Returns None for a client, because all clients support the same events.
    """
    if plan.is_client:
        return None
    shown = conformance.shown
    names = {verb for verb, count in shown.applied.items() if count} | met.sent(shown.met or ())
    return next_event(plan.protocols, plan.settings, (verb for verb in Verb if verb.text in names))


def _next_event_json(conformance: Conformance, plan: Plan) -> "documents.NextEvent | None":
    following = next_to_support(conformance, plan) if conformance.shown.steps else None
    return None if following is None else {"event": following.verb.text, "opens": sorted(following.opens)}


def never_shown(conformance: Conformance, plan: Plan) -> list[str]:
    """Return the fields that no observation had. The result excludes fields that no protocol of the run has.

    The result is empty for a client, because epochfuzz itself shows the fields of the served model.
    """
    return [] if plan.is_client else [field for field in _fields(plan) if not conformance.shown.fields[field]]


def never_met(conformance: Conformance, plan: Plan) -> "documents.NeverMet | None":
    """Return the coverage points that the run never reached.

    Returns None if the run was not in lockstep, or did not record coverage points. The points that can be reached are
    estimated with random schedules in the model.
    """
    if conformance.shown.met is None or plan.judged_by is not JudgedBy.LOCKSTEP:
        return None
    most = SMALL["replicas"]
    small = plan.settings.changed_to({**SMALL, "min_insync_replicas": min(plan.settings.min_insync_replicas, most)})
    there_is = _there_is(plan, plan.settings) | {name for name, count in conformance.shown.met.items() if count}
    within = _there_is(plan, small)
    unmet = {kind: _unmet_of(kind, there_is, conformance.shown.met, within) for kind in met.KINDS}
    return {**unmet, **SMALL}  # type: ignore[return-value]


def _there_is(plan: Plan, settings: Configuration) -> set[str]:
    return {name for protocol in plan.protocols for name in met.there_is(protocol, settings)}


def _unmet_of(kind: str, there_is: set[str], known: Mapping[str, int], within: set[str]) -> "documents.Unmet":
    of_kind = met.of_kind(there_is, kind)
    names = sorted(of_kind - met.of_kind(known, kind))
    reached = met.of_kind(within, kind)
    return {
        "there_are": len(of_kind),
        "names": names,
        "within_bounds": [name for name in names if name in reached],
    }


def judged(conformance: Conformance, plan: Plan) -> list[str]:
    """Return the properties that the run checked. The list is empty in lockstep, which compares fields instead."""
    lacking = not_judged(conformance, plan)
    return [name for name in _properties(plan) if name not in lacking]


def not_judged(conformance: Conformance, plan: Plan) -> dict[str, list[str]]:
    """Return the properties that could not be checked, each with the fields that it needs and no observation had.

    The list of fields is empty for a property that no field can show.
    """
    shown = {field for field, count in conformance.shown.fields.items() if count}
    missing = {name: [field for field in BY_NAME[name].seen_in if field not in shown] for name in _properties(plan)}
    return {name: fields for name, fields in missing.items() if fields or not BY_NAME[name].seen_in}


def _properties(plan: Plan) -> list[str]:
    """Return the properties that the run should check, except those that the settings permit to break."""
    if plan.judged_by is not JudgedBy.PROMISES:
        return []
    permitted = properties.permitted(plan.settings)
    applying = REPORTED_BY_CLIENTS if plan.is_client else properties.applying(*_starts(plan))
    return [name for name in applying if name not in permitted]


def _share(conformance: Conformance, plan: Plan) -> str:
    asked = len(_properties(plan))
    return f", {len(judged(conformance, plan))} of {asked} properties" if asked else ""


def _fields(plan: Plan) -> list[str]:
    """Return the fields that at least one protocol of the run has."""
    return [field for field, seen in FIELDS.items() if any(map(seen.there, _starts(plan)))]


def _starts(plan: Plan) -> list[Partition]:
    return [initial(protocol, plan.settings) for protocol in plan.protocols]


def unknown_fields(conformance: Conformance, plan: Plan) -> list[str]:
    """Return the observed fields that the conformance protocol does not define. They may be misspelt."""
    return sorted(conformance.shown.fields.keys() - {*_fields(plan), *own_fields(conformance)})


def misspelt(conformance: Conformance, plan: Plan) -> dict[str, str]:
    """Return the probably intended field for each unknown field of an observation.

    The intended field is a field that no observation had.
    """
    missing = never_shown(conformance, plan)
    suggestions = {field: meant(field, missing) for field in unknown_fields(conformance, plan)}
    return {field: name for field, name in suggestions.items() if name is not None}


def _with_suggestions(conformance: Conformance, plan: Plan) -> list[str]:
    suggestions = misspelt(conformance, plan)
    return [
        f"{field} (did you mean {suggestions[field]}?)" if field in suggestions else field
        for field in unknown_fields(conformance, plan)
    ]


def own_fields(conformance: Conformance) -> list[str]:
    """Return the fields that the adapter added under `own`. epochfuzz shows these fields, and does not compare them."""
    return sorted(field for field in conformance.shown.fields if field.split(".")[1:2] == [OWN])


def _title(nonconformity: ConformanceFinding, proof: Reproducer | None) -> Text:
    sent = nonconformity.sighting.sent
    after = f"after event {len(sent)}, {event_text(sent[-1])}" if sent else "after the reset"
    if is_from_reset(nonconformity.fault, sent, nonconformity.protocol, nonconformity.trial.settings):
        after += ", and perhaps there since the reset"
    shrunk = f", shrunk from {nonconformity.shrunk_from} events" if nonconformity.shrunk_from > len(sent) else ""
    if not nonconformity.is_shrunk and not nonconformity.known_flaw:
        shrunk += ", not the shortest: time was up; a longer --certify, such as 5m, shrinks it further"
    is_violation = nonconformity.fault.kind is DiscrepancyKind.PROMISE
    is_listed = any(each.why == nonconformity.known_flaw for each in nonconformity.trial.known)
    of_protocol = f"known {'bug' if is_violation else 'difference'} of {nonconformity.protocol.name}"
    flaw = "accepted by --known" if is_violation and is_listed else of_protocol
    known = f"\n{flaw}: {nonconformity.known_flaw}" if nonconformity.known_flaw else ""
    if proof is not None:
        shorter = f"breaks it in {len(proof.schedule)} events, " if proof.schedule != sent else ""
        known += f"\n{nonconformity.protocol.name}, by the model: {shorter}{proof.proven}"
    return Text.assemble(
        "\n",
        (f"{nonconformity.fault.kind} under {nonconformity.protocol.name}: {nonconformity.fault.sentence}", "bold"),
        f"\n{after}; {_origin(nonconformity.trial)}{shrunk}, seen {_times(nonconformity.seen)}{known}",
    )


def _origin(trial: Trial) -> str:
    if trial.tour is not None:
        return f"tour {trial.tour}"
    return f"case {trial.case}" if trial.case else f"schedule {trial.number}"


def _times(seen: int) -> str:
    return "once" if seen == 1 else f"{seen:,} times"


def _beside(run: Run, nonconformity: ConformanceFinding) -> Table:
    """Return a table of all fields that differ after the last event. The finding itself names only the first field."""
    applied, observation = nonconformity.answers[-1]
    model = {"applied": run.steps[-1].applied, **beside(run.steps[-1].state, observation)}
    judge = LockStep(nonconformity.protocol, nonconformity.trial.settings)
    for event in nonconformity.sighting.sent:
        judge.advance(event)
    subject = {"applied": applied, **judge.compared(observation)}
    table = Table("field", "model", "subject", title=f"After event {len(run.steps)}")
    for name in sorted(subject["replicas"].keys() - model["replicas"]):  # unknown replicas
        table.add_row(f"replicas.{name}", "", Text(shown(subject["replicas"].pop(name)), "bold"))
    for where, observed, expected in differences(subject, model):
        table.add_row(".".join(where), Text(shown(expected)), Text(shown(observed), "bold"))
    for name, value in _own(observation):
        table.add_row(Text(shown(name)), "", Text(shown(value)))
    return table


def _own(observation: Observation) -> Iterator[tuple[str, Any]]:
    """Yield the adapter's own fields in an observation, as (path, value)."""
    seen: dict[str, Any] = dict(observation)
    parts = {f"replicas.{name}": replica for name, replica in sorted(seen.get("replicas", {}).items())}
    for part, values in {**parts, "controller": seen.get("controller", {})}.items():
        yield from ((f"{part}.{OWN}.{field}", value) for field, value in values.get(OWN, {}).items())


def _observed(nonconformity: ConformanceFinding) -> Table:
    """Return a table of the events, with the observation of each replica after each event."""
    p = initial(nonconformity.protocol, nonconformity.trial.settings)
    names = REPLICA_NAMES[: p.replicas]
    table = Table("", "event", *names, "controller")
    for number, (event, (applied, observation)) in enumerate(
        zip(nonconformity.sighting.sent, nonconformity.answers, strict=False), 1
    ):
        parts = ordered(observation, p)
        own = dict(_own(observation))
        replicas = (Text(_replica(parts["replicas"].get(name, {}), _of(name, own))) for name in names)
        style = "" if applied else "dim"
        table.add_row(str(number), event_text(event), *replicas, Text(_controller(parts["controller"])), style=style)
    return table


def _of(replica: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the adapter's own fields of one replica."""
    part = f"replicas.{replica}.{OWN}."
    return {field.removeprefix(part): value for field, value in own.items() if field.startswith(part)}


def _replica(seen: dict[str, Any], own: dict[str, Any]) -> str:
    if seen.get("up") is False:
        return "down"
    figures = [f"{field} {shown(seen[field])}" for field in ("hw", "leader", "leader_epoch") if field in seen]
    figures += [f"{field} {shown(value)}" for field, value in own.items()]
    return "\n".join([shown(" ".join(log_texts(seen.get("log", [])))) or "-", shown(", ".join(figures))])


def _controller(seen: dict[str, Any]) -> str:
    return "\n".join(f"{field} {shown(value)}" for field, value in seen.items())
