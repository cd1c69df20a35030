"""A case on a cluster, beside what the model of its release makes of it. Only here a cluster meets the model."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.cluster.schedules.ends import Ended
from epochfuzz.harness.cluster.schedules.events import EVENTS
from epochfuzz.harness.cluster.schedules.play import Playing, Seen
from epochfuzz.harness.cluster.schedules.stage import Settings
from epochfuzz.harness.witness.replay import Run, replay
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import event_text, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, ProtocolError, parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.cases.case import Case

_BROKERS = 3
_ENDS = (
    (Ended.LOST, {"no-committed-loss", "no-acked-loss"}),
    (Ended.DIVERGED, {"no-divergence", "convergence"}),
    (Ended.STUCK, {"hw-due"}),
)


@dataclass(frozen=True)
class Beside:
    """What the model's release makes of a schedule. `differs` says where logs, leader or ISR first do, if anywhere."""

    protocol: str
    ended: Ended
    permitted: bool  # the contract with clients permits it
    differs: str | None


def protocol_of(release: str) -> Protocol | None:
    """Return the model's protocol for a release; None for a build that the model does not know."""
    try:
        return parse_protocol(f"kafka-{release}")
    except ProtocolError:
        return None


def settings_of(settings: Configuration) -> Settings:
    """Return the settings of a partition as far as a cluster has them."""
    return Settings(
        settings.replicas,
        settings.acks,
        settings.min_insync_replicas,
        settings.unclean_leader_election,
        settings.retries,
    )


def missing(case: "Case") -> list[str]:
    """Return what of a case is not offered on a cluster."""
    verbs = dict.fromkeys(text.partition(" ")[0] for text in schedule_texts(case.events))
    few = [] if case.settings.replicas <= _BROKERS else [f"{case.settings.replicas} replicas"]
    return [verb for verb in verbs if verb not in EVENTS] + few


def beside(events: bytes, settings: Configuration, protocol: Protocol, playing: Playing) -> Beside:
    """Hold what was played against the model."""
    run = replay(events, protocol, settings)
    broken = {*run.broken, *run.permitted}
    ended = next((ended for ended, names in _ENDS if names & broken), Ended.KEPT)
    permitted = not any(names & {*run.broken} for _, names in _ENDS) and ended is not Ended.KEPT
    return Beside(protocol.name, ended, permitted, _first_difference(run, playing))


def _first_difference(run: Run, playing: Playing) -> str | None:
    for step, played in zip(run.steps, playing.steps, strict=False):
        model = _seen(observe(step.state))
        for what, there, here in (
            *((f"{name} has", model.logs[name], played.seen.logs[name]) for name in model.logs),
            ("the leader is", model.leader, played.seen.leader),
            ("the ISR is", model.isr, played.seen.isr),
        ):
            if there != here:
                event = event_text(step.event)
                return f"after {step.number} ({event}) {what} {_told(here)}, in the model {_told(there)}"
    return None


def _seen(observed: dict[str, Any]) -> Seen:
    return Seen(
        {name: tuple(record for record, _ in replica["log"]) for name, replica in observed["replicas"].items()},
        observed["controller"]["leader"],
        tuple(sorted(observed["controller"]["isr"])),
    )


def _told(value: str | tuple[str, ...] | None) -> str:
    if isinstance(value, str):
        return value
    return " ".join(value or ()) or ("nobody" if value is None else "nothing")
