"""A scene: one step of a run as plain data, with the visible state after the step and its description in words.

All drawings of a schedule use scenes, so they show the same content. The module views/drawings/captions.py has the
texts of drawings.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from epochfuzz.harness.trace import consequences, isr_changes, refusal, rivals, sentences, transactions, wording
from epochfuzz.harness.trace.change import Change, answered_by
from epochfuzz.harness.trace.replay import Run, Step
from epochfuzz.model.kafka.contract.observation import (
    log_entries,
    members,
    record_ids,
    record_name,
    record_names,
    replica_name,
)
from epochfuzz.model.kafka.contract.properties import PROPERTIES
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.partition import replication
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.storage.transactions import last_stable_offset
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, event_text
from epochfuzz.model.kafka.vocabulary.in_force import (
    falls_back_to_last_known_leader,
    requests_isr_changes,
    tracks_eligible_leaders,
    tracks_partition_epoch,
)
from epochfuzz.model.kafka.vocabulary.state import NONE, Alter, Flight, Phase, State

START = "start"  # the event of the scene before the first event
HEALED = "healed"  # the event of the scene after the last event, see narrate_ending


class Role(Enum):
    """The role that a replica assumes.

    A ZOMBIE leads although the controller has elected another leader since. A RIVAL leads because the deposed
    controller elected it.
    """

    LEADER = "leader"
    ZOMBIE = "zombie leader"
    RIVAL = "leader by the old controller"
    FOLLOWER = "follower"
    TRUNCATING = "truncating"
    LEADERLESS = "no leader known"
    DOWN = "down"


@dataclass(frozen=True, kw_only=True)
class RecordCell:
    """A record in a replica's log. `exposed` and `acked` are guarantees to clients, from this replica or another.

    An exposed record was readable by consumers. An acked record was acknowledged to its producer.
    """

    offset: int
    record: str
    epoch: int
    below_high_watermark: bool
    exposed: bool
    acked: bool
    appended: bool  # appended in this step

    @property
    def promised(self) -> bool:
        """True if any client read the record or received its acknowledgement."""
        return self.exposed or self.acked


@dataclass(frozen=True)
class Missing:
    """A record that clients could read or that was acknowledged, and that a replica lacks at its offset."""

    offset: int
    record: str


@dataclass(frozen=True, kw_only=True)
class ReplicaScene:
    """One replica after a step. `cut` holds the records that the step truncated.

    On the controller's current leader, `missing` holds every guaranteed record that this leader lacks. On other
    replicas, `missing` holds only guaranteed records with an offset below the replica's own high watermark. `flushed`
    is None unless power loss is on in the settings, and `checkpointed` is None unless asynchronous checkpoints are on.
    `changed` names the fields that the step changed, except `log` and fields with a `previous_` value.

    `remote_leos` pairs the name of each other replica with the LEO that the leader knows. Replicas with an unknown LEO
    are left out. `answered_by` is the sender of the response `in_flight`. `isr` is the ISR that the leader knows, or
    None if this ISR cannot differ from the controller's ISR. `pending_isr` is the ISR that the leader has proposed, or
    None if leaders send no proposals to the controller. `request` is the message in flight between the leader and the
    controller. Without a message, `request` is empty.
    """

    name: str
    role: Role
    leader: str | None
    epoch: int | None
    leo: int
    previous_leo: int
    high_watermark: int
    previous_high_watermark: int
    flushed: int | None
    checkpointed: int | None
    log: tuple[RecordCell, ...]
    cut: tuple[RecordCell, ...]
    missing: tuple[Missing, ...]
    remote_leos: tuple[tuple[str, int], ...]
    in_flight: str
    waiting: tuple[str, ...]  # the records whose producers wait here
    answered_by: str | None
    isr: tuple[str, ...] | None
    pending_isr: tuple[str, ...] | None
    request: str
    request_is_answered: bool
    fenced: bool
    last_stable_offset: int | None
    changed: frozenset[str]

    @property
    def role_changed(self) -> bool:
        """True if the step changed the replica's role, leader or epoch, or fenced or unfenced the replica."""
        return not self.changed.isdisjoint(("role", "leader", "epoch", "fenced"))


@dataclass(frozen=True, kw_only=True)
class ControllerScene:
    """The controller after a step: the leader, epoch, ISR and eligible leader replicas (`elr`) that it has decided.

    `elr` and `last_known_leader` are None if the protocol doesn't track them. `changed` is True if the step changed the
    leader, the epoch or the ISR.
    """

    leader: str | None
    epoch: int
    isr: tuple[str, ...]
    elr: tuple[str, ...] | None
    last_known_leader: str | None
    rival: str  # the deposed controller's view
    transaction: str
    changed: bool


@dataclass(frozen=True)
class ConsumerScene:
    """The consumer: its next offset after and before the step, and the epoch that it knows."""

    position: int
    previous_position: int
    epoch: int


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One step of a run as drawings show it: the event, the state after it, and its effects in words.

    Scene 0 is the start, so scene n follows event n.
    """

    number: int
    event: str
    applied: bool
    replicas: tuple[ReplicaScene, ...]
    controller: ControllerScene
    committed: tuple[str, ...]  # every record that consumers could read at any time
    lost: tuple[str, ...]  # the guaranteed records that the true leader lacks
    newly_committed: tuple[str, ...]
    newly_broken: tuple[str, ...]
    clauses: tuple[str, ...]
    consumer: ConsumerScene | None = None  # None without a consumer

    @property
    def sentence(self) -> str:
        """The effect of the step, in one sentence."""
        return as_sentence(self.clauses)


def narrate(run: Run) -> tuple[Scene, ...]:
    """Return the scenes of a run: first the start, then one for each event."""
    opening = Step(0, 0, True, run.start, ())
    readable_on = _readable(run.start)
    scenes = [_scene(run.start, opening, START, _opening_clauses(run.start))]
    before = run.start
    for step in run.steps:
        readable_on = {**_readable(step.state), **readable_on}
        if step.applied:
            change = Change(before, step.event, step.state, readable_on, step.newly_broken)
            clauses = sentences.clauses(change)
        else:
            clauses = (f"not enabled: {refusal.why_not(before, step.event)}",)
        scenes.append(_scene(before, step, event_text(step.event), clauses))
        before = step.state
    return tuple(scenes)


def narrate_ending(run: Run) -> Scene:
    """Return the scene after all faults have stopped (healing.py), where `convergence` is checked.

    Its clauses list the remaining differences between the replicas.
    """
    before = run.steps[-1].state if run.steps else run.start
    judged = [each for each in PROPERTIES if each.at_end]
    differing = tuple(text.removeprefix("healed, ") for each in judged for text in each.violations(run.healed))
    clauses = (
        "all faults stop: every replica is up, learns the current leader and ISR, and fetches until nothing changes",
    )
    broken = tuple(each.name for each in judged if each.name in run.first_broken)
    agreeing = "all logs and high watermarks agree"
    step = Step(len(run.steps) + 1, 0, True, run.healed, broken)
    return _scene(before, step, HEALED, (*clauses, *(differing or (agreeing,))))


def as_sentence(clauses: Iterable[str]) -> str:
    """Return clauses joined into a sentence, with a capital letter and a full stop."""
    text = "; ".join(clauses)
    return f"{text[:1].upper()}{text[1:]}."


def _opening_clauses(p: State) -> tuple[str, ...]:
    leader = replica_name(controller.leader(p))
    isr = ",".join(members(controller.isr(p)))
    return (f"all replicas are up, have empty logs and know that {leader} leads epoch 0, ISR {isr}",)


def _readable(p: State) -> dict[int, str]:
    """Return the records that consumers can read now.

    Maps each record id to the letter of a leader that serves the record.
    """
    leaders = [r for r in range(p.replicas) if replication.presumes_leadership(p, r)]
    return {
        log.at(p.log_record[r], offset): REPLICA_NAMES[r]
        for r in leaders
        for offset in range(p.log_start[r], p.high_watermark[r])
    }


def _scene(before: State, step: Step, event: str, clauses: tuple[str, ...]) -> Scene:
    p: State = step.state
    return Scene(
        number=step.number,
        event=event,
        applied=step.applied,
        replicas=tuple(_replica(before, p, r) for r in range(p.replicas)),
        controller=_controller(before, p),
        committed=_record_names(p.exposed),
        lost=_record_names(wording.missing(p)),
        newly_committed=_record_names(p.exposed & ~before.exposed),
        newly_broken=step.newly_broken,
        clauses=clauses,
        consumer=ConsumerScene(p.position, before.position, p.consumer_epoch) if p.consumer else None,
    )


def _controller(before: State, p: State) -> ControllerScene:
    leader, epoch, isr = _decision(p)
    return ControllerScene(
        leader=leader,
        epoch=epoch,
        isr=isr,
        elr=tuple(members(p.elr)) if tracks_eligible_leaders(p) else None,
        last_known_leader=replica_name(p.last_leader) if falls_back_to_last_known_leader(p) else None,
        rival=rivals.describe(p),
        transaction=transactions.describe(p),
        changed=(leader, epoch, isr) != _decision(before),
    )


def _decision(p: State) -> tuple[str | None, int, tuple[str, ...]]:
    return replica_name(controller.leader(p)), p.controller_epoch, tuple(members(controller.isr(p)))


def _replica(before: State, p: State, r: int) -> ReplicaScene:
    earlier, now = _at(before, r), _at(p, r)
    return ReplicaScene(
        name=REPLICA_NAMES[r],
        leo=p.leo[r],
        previous_leo=before.leo[r],
        high_watermark=p.high_watermark[r],
        previous_high_watermark=before.high_watermark[r],
        log=tuple(_cell(p, r, offset, appended=offset >= before.leo[r]) for offset in range(p.leo[r])),
        cut=tuple(_cell(before, r, offset, appended=False) for offset in range(p.leo[r], before.leo[r])),
        missing=_missing(p, r),
        changed=frozenset(name for name in now if now[name] != earlier[name]),
        **now,
    )


def _at(p: State, r: int) -> dict[str, Any]:
    """Return the fields of a ReplicaScene that depend on one state only, by name."""
    return {
        "role": _role(p, r),
        "leader": replica_name(p.known_leader[r]),
        "waiting": _record_names(p.waiting[r]),
        "epoch": p.known_epoch[r] if p.up[r] and p.known_epoch[r] != NONE else None,
        "flushed": p.flushed[r] if p.power_loss else None,
        "checkpointed": p.checkpointed[r] if p.asynchronous_checkpoint else None,
        "remote_leos": _remote_leos(p, r),
        "in_flight": wording.in_flight(p, r),
        "answered_by": replica_name(answered_by(p, r)) if p.flight[r] != Flight.NOTHING else None,
        "isr": tuple(members(p.isr[r])) if tracks_partition_epoch(p) else None,
        "pending_isr": tuple(members(p.pending_isr[r])) if requests_isr_changes(p) else None,
        "request": isr_changes.request_under_way(p, r),
        "request_is_answered": p.alter[r] not in (Alter.NOTHING, Alter.REQUEST),
        "fenced": bool(p.fenced >> r & 1),
        "last_stable_offset": last_stable_offset(p, r) if p.transactions else None,
    }


def _remote_leos(p: State, r: int) -> tuple[tuple[str, int], ...]:
    if not replication.presumes_leadership(p, r):
        return ()
    others = [other for other in range(p.replicas) if other != r and p.remote_leos[r, other] != NONE]
    return tuple((REPLICA_NAMES[other], int(p.remote_leos[r, other])) for other in others)


def _role(p: State, r: int) -> Role:
    if not p.up[r]:
        return Role.DOWN
    if consequences.is_zombie(p, r):
        return Role.ZOMBIE
    if rivals.is_of_rival(p, r):
        return Role.RIVAL
    if replication.presumes_leadership(p, r):
        return Role.LEADER
    if p.known_leader[r] == NONE:
        return Role.LEADERLESS
    return Role.TRUNCATING if p.phase[r] == Phase.TRUNCATING else Role.FOLLOWER


def _cell(p: State, r: int, offset: int, *, appended: bool) -> RecordCell:
    record, epoch = log_entries(p, r)[offset]
    return RecordCell(
        offset=offset,
        record=record_name(p, record),
        epoch=epoch,
        below_high_watermark=offset < p.high_watermark[r],
        exposed=bool(p.exposed >> record & 1),
        acked=bool(p.acked >> record & 1),
        appended=appended,
    )


def _missing(p: State, r: int) -> tuple[Missing, ...]:
    absent = record_ids(wording.absent(p, r))
    places = sorted((wording.offset_of(p, record), record) for record in absent)
    if controller.true_leader(p) != r:
        places = [place for place in places if place[0] < p.high_watermark[r]]
    return tuple(Missing(offset, f"m{record}") for offset, record in places)


def _record_names(record_set: int) -> tuple[str, ...]:
    return tuple(record_names(record_set))
