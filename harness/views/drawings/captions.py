"""The texts in drawings of replays. Drawings in the terminal, in the browser and in text files share these texts."""

from collections.abc import Sequence

from epochfuzz.harness.trace.replay import Run
from epochfuzz.harness.trace.scenes import ControllerScene, ReplicaScene, Role, Scene
from epochfuzz.model.kafka.contract.properties import BY_NAME
from epochfuzz.model.kafka.history import promises

PARTING = "here they part"

# The meaning of a panel's shapes.
LEGEND = (
    "Solid box: below the replica's high watermark. Double edge: above it, but committed or acknowledged."
    " Dashed: neither.",
    "+ appended in this step. \u2713 committed in this step. Crossed out: truncated. Octagon with !: a record that was"
    " promised to a client and is not where it belongs.",
    "Filled square: leader. Dashed square: zombie, a leader that the controller has replaced. Arrow: response in"
    " flight. Underlined: changed by this step.",
)

# A replica's role and epoch. A comma separates them if the first part ends with a name.
_ROLES = {
    Role.LEADER: ("leads", "e{epoch}"),
    Role.ZOMBIE: ("leads", "e{epoch} (zombie)"),
    Role.RIVAL: ("leads", "e{epoch} (rival)"),
    Role.FOLLOWER: ("follows {leader}", "e{epoch}"),
    Role.TRUNCATING: ("truncates to {leader}", "e{epoch}"),
    Role.LEADERLESS: ("knows no leader", ""),
    Role.DOWN: ("is down", ""),
}


def role_parts(replica: ReplicaScene) -> tuple[str, str]:
    """Return a replica's role and epoch, such as `follows A` and `e1`. The epoch may be empty."""
    does, epoch = _ROLES[replica.role]
    return does.format(leader=replica.leader), epoch.format(epoch=replica.epoch)


def role(replica: ReplicaScene) -> str:
    """Return a replica's role and epoch in one line, such as `follows A, e1` or `follows A, e1, fenced`."""
    does, epoch = role_parts(replica)
    fenced = ", fenced" if replica.fenced else ""
    return f"{does}{',' if epoch and ' ' in does else ''} {epoch}".rstrip() + fenced


def moved(name: str, previous: int, current: int, arrow: str = "->") -> str:
    """Return a number with its name, as in `HW 2`. If the step changed the number, return both values: `HW 1->2`."""
    return f"{name} {current}" if previous == current else f"{name} {previous}{arrow}{current}"


def remote_leos(replica: ReplicaScene) -> list[str]:
    """Return the log end offsets of followers that a leader knows, two in each line: `remote LEO B 1, C 0`."""
    known = [f"{name} {leo}" for name, leo in replica.remote_leos]
    pairs = [", ".join(known[i : i + 2]) for i in range(0, len(known), 2)]
    return [f"{'remote LEO ' if i == 0 else ''}{pair}" for i, pair in enumerate(pairs)]


def on_disk(replica: ReplicaScene) -> list[str]:
    """Return the offsets on disk that a replica falls back to after a failure: `flushed 1`, `checkpoint 0`.

    An offset is left out if the settings exclude its kind of failure.
    """
    flushed = [] if replica.flushed is None else [f"flushed {replica.flushed}"]
    return flushed if replica.checkpointed is None else [*flushed, f"checkpoint {replica.checkpointed}"]


def stable(replica: ReplicaScene) -> list[str]:
    """Return a line with the last stable offset of a replica: `LSO 1`. Empty without transactions."""
    return [] if replica.last_stable_offset is None else [f"LSO {replica.last_stable_offset}"]


def waits(replica: ReplicaScene) -> list[str]:
    """Return a line with the records whose producers wait for an acknowledgement from a replica: `m0, m1 waits`.

    The list is empty if no producer waits.
    """
    return [f"{', '.join(replica.waiting)} waits"] if replica.waiting else []


def consumer(scene: Scene) -> list[str]:
    """Return a line with the consumer's position and epoch: `consumer 0->1, e0`. Empty without a consumer."""
    if scene.consumer is None:
        return []
    return [f"{moved('consumer', scene.consumer.previous_position, scene.consumer.position)}, e{scene.consumer.epoch}"]


def in_flight(replica: ReplicaScene) -> str:
    """Return the response in flight to a replica, such as `m1, HW 0`.

    If the sender is not the leader that the replica knows, the text names the sender: `m1, HW 0 from A`.
    """
    return " ".join(filter(None, (replica.in_flight, given_by(replica))))


def given_by(replica: ReplicaScene) -> str:
    """Return the sender of the response in flight to a replica, such as `from A`. Empty if the leader is the sender."""
    return "" if replica.answered_by in (None, replica.leader) else f"from {replica.answered_by}"


def proposal(replica: ReplicaScene, controller: ControllerScene) -> list[str]:
    """Return a leader's view of the ISR: `knows ISR A,B` if it differs from the controller's, and `pending ISR A`."""
    leads = replica.role in (Role.LEADER, Role.ZOMBIE)
    knows = [f"knows ISR {_set(replica.isr)}"] if leads and replica.isr not in (None, controller.isr) else []
    return [*knows, f"pending ISR {_set(replica.pending_isr)}"] if replica.pending_isr else knows


def decision(controller: ControllerScene) -> tuple[str, ...]:
    """Return the controller's view, in parts such as `controller at e1`, `B leads, ISR A,B` and `ELR C`."""
    leads = f"{controller.leader} leads" if controller.leader else "no leader"
    others = [f"ELR {_set(controller.elr)}"] if controller.elr else []
    if controller.last_known_leader:
        others.append(f"last led by {controller.last_known_leader}")
    others += filter(None, (controller.rival, controller.transaction))
    return f"controller at e{controller.epoch}", f"{leads}, ISR {_set(controller.isr)}", *others


def _set(replicas: Sequence[str] | None) -> str:
    return ",".join(replicas or []) or "empty"


def breaks(run: Run) -> str:
    """Return the violations of a run with their steps: `breaks no-divergence at step 9`. Empty if there are none.

    For a property that is checked at the end of the schedule, the text says `after` the last step.
    """
    return f"breaks {_first_broken(run, run.broken)}" if run.broken else ""


def permitted(run: Run) -> str:
    """Return the violations that the settings permit, with their steps. Empty if there are none."""
    by_acks = (
        f"breaks {_first_broken(run, run.permitted)}, as acks={run.settings.acks} permits" if run.permitted else ""
    )
    return "; ".join(filter(None, (by_acks, _permitted_loss(run))))


def _permitted_loss(run: Run) -> str:
    """Return a text about records that were lost after more failures than KIP-966 tolerates. Empty if there are none.

    No property counts such a loss as a violation.
    """
    if not (run.steps and promises.are_void(run.steps[-1].state)):
        return ""
    losing = next((scene for scene in run.scenes if scene.lost), None)
    return f"loses {', '.join(losing.lost)} at step {losing.number}, as KIP-966 permits by then" if losing else ""


def verdict(run: Run) -> str:
    """Return all violations of a run in one line, or `keeps every guarantee`."""
    return "; ".join(filter(None, (breaks(run), permitted(run)))) or "keeps every guarantee"


def no_parting(runs: tuple[Run, ...]) -> str:
    """Return the sentence that a drawing shows if its runs look equal at every step."""
    if any(run.ends_broken for run in runs):
        return "The runs do not differ in these steps. Convergence is checked later, when all faults have stopped."
    return "The runs do not differ."


def _first_broken(run: Run, properties: list[str]) -> str:
    return ", ".join(
        f"{name} {'after' if BY_NAME[name].at_end else 'at'} step {run.first_broken[name]}" for name in properties
    )
