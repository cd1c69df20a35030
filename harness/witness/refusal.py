"""Why an event is not enabled: the precondition that does not hold, in words."""

from collections.abc import Iterator

from epochfuzz.model import controller, events, isr, replication
from epochfuzz.model.configuration import ACKS_ALL
from epochfuzz.model.events import REPLICA_NAMES
from epochfuzz.model.high_watermark import replication_position
from epochfuzz.model.protocols import FENCING_EPOCH
from epochfuzz.model.state import FETCHING, NONE, NOTHING, State


def why_not(p: State, event: int) -> str:
    """Why `event` changes nothing in this state; empty where it is enabled."""
    r = events.replica_of(event)
    if r >= p.replicas:
        return f"there is no replica {REPLICA_NAMES[r]}"
    return next(_REASONS[events.verb_of(event)](p, r), "")


# Each yields the reasons against one verb, in the order in which its rule tests the preconditions.


def _produce(p: State, r: int) -> Iterator[str]:
    if not p.up[r]:
        yield _is_down(r)
    if not replication.presumes_leadership(p, r):
        yield _does_not_lead(r)
    if p.produced >= p.records:
        yield f"the bound of {p.records} records is reached"
    if p.acks == ACKS_ALL and replication.size(p.isr[r]) < p.min_insync_replicas:
        in_sync = replication.size(p.isr[r])
        yield f"NOT_ENOUGH_REPLICAS: the ISR has {in_sync} of min.insync.replicas {p.min_insync_replicas}"


def _fetch(p: State, r: int) -> Iterator[str]:
    leader = p.known_leader[r]
    if not p.up[r]:
        yield _is_down(r)
    if leader == NONE:
        yield f"{_name(r)} knows no leader"
    if leader == r:
        yield f"{_name(r)} itself leads"
    if p.flight[r] != NOTHING:
        yield f"an answer to {_name(r)} is still in flight"
    if not p.up[leader]:
        yield _is_down(leader)
    if not replication.presumes_leadership(p, leader):
        yield _does_not_lead(leader)
    if p.fencing == FENCING_EPOCH and p.known_epoch[r] != p.known_epoch[leader]:
        error = "FENCED" if p.known_epoch[r] < p.known_epoch[leader] else "UNKNOWN"
        yield (
            f"leader {_name(leader)} is at epoch {p.known_epoch[leader]} and refuses {_name(r)}, "
            f"at epoch {p.known_epoch[r]}: {error}_LEADER_EPOCH"
        )


def _receive(p: State, r: int) -> Iterator[str]:
    if p.flight[r] == NOTHING:
        yield f"nothing is in flight to {_name(r)}"


def _crash(p: State, r: int) -> Iterator[str]:
    if not p.up[r]:
        yield _is_down(r)


def _power_loss(p: State, r: int) -> Iterator[str]:
    if not p.power_loss:
        yield "power_loss is off in the configuration"
    yield from _crash(p, r)


def _restart(p: State, r: int) -> Iterator[str]:
    if p.up[r]:
        yield f"{_name(r)} is up"


def _notify(p: State, r: int) -> Iterator[str]:
    if not p.up[r]:
        yield _is_down(r)
    if p.known_epoch[r] >= p.controller_epoch:
        yield f"{_name(r)} knows the latest epoch, {p.controller_epoch}"


def _catch_up(p: State, r: int) -> Iterator[str]:
    if not p.up[r]:
        yield _is_down(r)
    if p.controller_epoch - p.known_epoch[r] < 2:
        yield f"{_name(r)} is less than two epochs behind"


def _elect(p: State, r: int) -> Iterator[str]:
    members = controller.isr(p)
    if p.controller_epoch >= p.epochs:
        yield _no_more_epochs(p)
    if not p.up[r]:
        yield _is_down(r)
    if r == controller.leader(p):
        yield f"the controller has {_name(r)} as leader already"
    if not members >> r & 1:
        if not p.unclean_leader_election:
            yield f"{_name(r)} is not in the ISR, and unclean leader election is off"
        if controller.any_up(p, members):
            yield f"{_name(r)} is not in the ISR, which has a live member"


def _expire(p: State, r: int) -> Iterator[str]:
    members = controller.isr(p)
    if p.controller_epoch >= p.epochs:
        yield _no_more_epochs(p)
    if r != controller.leader(p) and not members >> r & 1:
        yield f"{_name(r)} neither leads nor is in the ISR"
    if r != controller.leader(p) and members == 1 << r:
        yield f"{_name(r)} is the last member of the ISR, and leads no more"


def _shrink(p: State, r: int) -> Iterator[str]:
    leader = controller.true_leader(p)
    yield from _no_true_leader(p, r)
    if not p.isr[leader] >> r & 1:
        yield f"{_name(r)} is not in the ISR"
    if replication_position(p, leader, r) >= p.leo[leader]:
        yield f"{_name(r)} does not lag"


def _expand(p: State, r: int) -> Iterator[str]:
    leader = controller.true_leader(p)
    yield from _no_true_leader(p, r)
    if p.isr[leader] >> r & 1:
        yield f"{_name(r)} is in the ISR"
    if p.known_leader[r] != leader:
        yield f"{_name(r)} does not follow {_name(leader)}"
    if p.phase[r] != FETCHING:
        yield f"{_name(r)} is truncating"
    if p.fencing == FENCING_EPOCH and p.known_epoch[r] != p.known_epoch[leader]:
        yield f"{_name(r)} is not at {_name(leader)}'s epoch {p.known_epoch[leader]}"
    if p.remote_leo[leader, r] == NONE:
        yield f"{_name(r)} has not fetched from {_name(leader)} in this epoch"
    if p.remote_leo[leader, r] < p.high_watermark[leader]:
        yield f"{_name(leader)} has seen {_name(r)} at offset {p.remote_leo[leader, r]}, below the HW"
    if not isr.is_caught_up(p, leader, r):
        yield (
            f"{_name(leader)} has seen {_name(r)} at offset {p.remote_leo[leader, r]}, "
            f"below the start of its epoch, {p.epoch_start[leader]}"
        )


def _flush(p: State, r: int) -> Iterator[str]:
    yield from _power_loss(p, r)
    if p.flushed[r] == p.leo[r]:
        yield f"{_name(r)}'s log is flushed already"


def _checkpoint(p: State, r: int) -> Iterator[str]:
    if not p.asynchronous_checkpoint:
        yield "asynchronous_checkpoint is off in the configuration"
    if not p.up[r]:
        yield _is_down(r)
    if p.checkpointed[r] == p.high_watermark[r]:
        yield f"{_name(r)}'s HW is checkpointed already"


_REASONS = {
    events.PRODUCE: _produce,
    events.FETCH: _fetch,
    events.RECEIVE: _receive,
    events.DROP: _receive,
    events.CRASH: _crash,
    events.POWER_LOSS: _power_loss,
    events.RESTART: _restart,
    events.NOTIFY: _notify,
    events.CATCH_UP: _catch_up,
    events.ELECT: _elect,
    events.EXPIRE: _expire,
    events.SHRINK: _shrink,
    events.EXPAND: _expand,
    events.FLUSH: _flush,
    events.CHECKPOINT: _checkpoint,
}


def _name(r: int) -> str:
    return REPLICA_NAMES[r]


def _is_down(r: int) -> str:
    return f"{_name(r)} is down"


def _does_not_lead(r: int) -> str:
    return f"{_name(r)} does not lead"


def _no_more_epochs(p: State) -> str:
    return f"the bound of {p.epochs} epoch changes is reached"


def _no_true_leader(p: State, r: int) -> Iterator[str]:
    leader = controller.true_leader(p)
    if leader == NONE:
        yield "no live leader is aware of the controller's current epoch"
    if leader == r:
        yield f"{_name(r)} itself leads"
