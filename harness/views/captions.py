"""Captions: the words on a drawing, the same whether it is made for a terminal, a browser or a text file."""

from epochfuzz.harness.witness.replay import Run
from epochfuzz.harness.witness.scenes import ControllerScene, ReplicaScene, Role
from epochfuzz.model.properties import BY_NAME

PARTING = "here they part"

# What the shapes of a panel mean.
LEGEND = (
    "Solid box: below the replica's high watermark. Double edge: above it, but committed or acknowledged."
    " Dashed: neither.",
    "+ appended in this step. \u2713 committed in this step. Crossed out: cut. Octagon with !: a record that was"
    " promised to a client and is not where it belongs.",
    "Filled square: leader. Dashed square: zombie, a leader that the controller has replaced. Arrow: answer in flight."
    " Underlined: changed by this step.",
)

# What a replica does, and since when; a comma goes between where the first part ends with a name.
_ROLES = {
    Role.LEADER: ("leads", "e{epoch}"),
    Role.ZOMBIE: ("leads", "e{epoch} (zombie)"),
    Role.FOLLOWER: ("follows {leader}", "e{epoch}"),
    Role.TRUNCATING: ("truncates to {leader}", "e{epoch}"),
    Role.LEADERLESS: ("knows no leader", ""),
    Role.DOWN: ("is down", ""),
}


def role_parts(replica: ReplicaScene) -> tuple[str, str]:
    """What a replica does, and in which epoch: `follows A` and `e1`; the second may be empty."""
    does, epoch = _ROLES[replica.role]
    return does.format(leader=replica.leader), epoch.format(epoch=replica.epoch)


def role(replica: ReplicaScene) -> str:
    """What a replica does, in a line: `follows A, e1`."""
    does, epoch = role_parts(replica)
    return f"{does}{',' if epoch and ' ' in does else ''} {epoch}".rstrip()


def moved(name: str, previous: int, current: int, arrow: str = "->") -> str:
    """A figure of a replica, with what it was before the step if that differs: `HW 1->2`."""
    return f"{name} {current}" if previous == current else f"{name} {previous}{arrow}{current}"


def on_disk(replica: ReplicaScene) -> list[str]:
    """What a fault may fall back to, where that fault is on: `flushed 1`, `checkpoint 0`."""
    flushed = [] if replica.flushed is None else [f"flushed {replica.flushed}"]
    return flushed if replica.checkpointed is None else [*flushed, f"checkpoint {replica.checkpointed}"]


def decision(controller: ControllerScene) -> tuple[str, str]:
    """The controller's view: `controller at e1`, and `B leads, ISR A,B`."""
    leads = f"{controller.leader} leads" if controller.leader else "no leader"
    return f"controller at e{controller.epoch}", f"{leads}, ISR {','.join(controller.isr)}"


def breaks(run: Run) -> str:
    """What a run broke and may not, and where: `breaks no-divergence at step 9`; empty where it broke nothing.

    What is judged once the schedule is over is broken after its last step.
    """
    return f"breaks {_first_broken(run, run.broken)}" if run.broken else ""


def permitted(run: Run) -> str:
    """What a run broke and may; empty where there is nothing."""
    return f"breaks {_first_broken(run, run.permitted)}, as acks={run.settings.acks} permits" if run.permitted else ""


def verdict(run: Run) -> str:
    """What a run broke, in a line."""
    return "; ".join(filter(None, (breaks(run), permitted(run)))) or "keeps every promise"


def no_parting(runs: tuple[Run, ...]) -> str:
    """What there is to say of two runs that look the same at every step."""
    if any(run.ends_broken for run in runs):
        return "They do not part in these steps: convergence is judged after them, once all faults have stopped."
    return "They do not part."


def _first_broken(run: Run, properties: list[str]) -> str:
    return ", ".join(
        f"{name} {'after' if BY_NAME[name].at_end else 'at'} step {run.first_broken[name]}" for name in properties
    )
