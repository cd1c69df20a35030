"""Compare the results of a schedule on a cluster and in the model of the cluster's release."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from epochfuzz.harness.cluster.broker.installation import DEFAULT_RELEASE
from epochfuzz.harness.cluster.schedules.ends import PROPERTIES, broken_at
from epochfuzz.harness.cluster.schedules.events import EVENTS
from epochfuzz.harness.cluster.schedules.stage import TopicSettings
from epochfuzz.harness.documents.cluster_records import Ended, ObservedState, Playing
from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import event_text, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, ProtocolError, parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.cases.case import Case

_BROKERS = 3


class _Difference(NamedTuple):
    """The first difference between a cluster and the model, as text, and the number of the event just before."""

    number: int
    text: str


@dataclass(frozen=True)
class Beside:
    """The result of a schedule in the model. `differs` describes the first difference from the cluster, or is None.

    `step` is the number of the model's step that a link to this result shows. If the model breaks a property that the
    cluster has broken too, `step` is the step of this violation. Otherwise `step` is the step of the first difference.
    Without a difference, `step` is the number of the last event, or 0 if the cluster kept all guarantees.
    """

    protocol: str
    ended: Ended
    permitted: bool  # the guarantees to clients permit this outcome
    differs: str | None
    step: int


def protocol_of(release: str) -> Protocol | None:
    """Return the protocol that models a release, or None for an unknown release."""
    try:
        return parse_protocol(f"kafka-{release}")
    except ProtocolError:
        return None


def modelled(release: str) -> Protocol:
    """Return the protocol that models a release. For an unknown release, return the protocol of DEFAULT_RELEASE."""
    return protocol_of(release) or parse_protocol(f"kafka-{DEFAULT_RELEASE}")


def settings_of(settings: Configuration) -> TopicSettings:
    """Return the settings for a topic on a cluster. Settings that a cluster does not support are left out."""
    return TopicSettings(
        settings.replicas,
        settings.acks,
        settings.min_insync_replicas,
        settings.unclean_leader_election,
        settings.retries,
    )


def missing(case: "Case") -> list[str]:
    """Return the events and settings of a case that a cluster does not support, such as `power_loss`.

    Empty if the cluster supports the case.
    """
    verbs = dict.fromkeys(text.partition(" ")[0] for text in schedule_texts(case.events))
    few = [] if case.settings.replicas <= _BROKERS else [f"{case.settings.replicas} replicas"]
    return [verb for verb in verbs if verb not in EVENTS] + few


def beside(events: bytes, settings: Configuration, protocol: Protocol, playing: Playing) -> Beside:
    """Replay a schedule in the model, and compare the run with `playing`, the results on the cluster."""
    run = replay(events, protocol, settings)
    broken = {*run.broken, *run.permitted}
    ended = next((ended for ended, names in PROPERTIES.items() if names & broken), Ended.KEPT)
    permitted = not any(names & {*run.broken} for names in PROPERTIES.values()) and ended is not Ended.KEPT
    difference = _first_difference(run, playing)
    differs = None if difference is None else difference.text
    return Beside(protocol.name, ended, permitted, differs, _step(run, playing, difference))


def _step(run: Run, playing: Playing, difference: _Difference | None) -> int:
    broken = broken_at(run, playing.ended)
    if broken is not None:
        return broken
    if difference is not None:
        return difference.number
    return 0 if playing.ended is Ended.KEPT else len(playing.steps)


def _first_difference(run: Run, playing: Playing) -> _Difference | None:
    for step, played in zip(run.steps, playing.steps, strict=False):
        model = _seen(observe(step.state))
        for what, there, here in (
            *((f"{name} has", model.logs[name], played.seen.logs[name]) for name in model.logs),
            ("the leader is", model.leader, played.seen.leader),
            ("the ISR is", model.isr, played.seen.isr),
        ):
            if there != here:
                event = event_text(step.event)
                text = f"after {step.number} ({event}) {what} {_described(here)}, in the model {_described(there)}"
                return _Difference(step.number, text)
    return None


def _seen(observed: dict[str, Any]) -> ObservedState:
    return ObservedState(
        {name: tuple(record for record, _ in replica["log"]) for name, replica in observed["replicas"].items()},
        observed["controller"]["leader"],
        tuple(sorted(observed["controller"]["isr"])),
    )


def _described(value: str | tuple[str, ...] | None) -> str:
    if isinstance(value, str):
        return value
    return " ".join(value or ()) or ("nobody" if value is None else "nothing")
