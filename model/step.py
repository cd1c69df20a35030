"""One step: an event byte applied to a partition."""

from epochfuzz.model import controller, events, faults, isr, leadership, replication
from epochfuzz.model.state import State


def step(p: State, event: int) -> bool:
    """Apply an event. False: its precondition does not hold, and nothing changed."""
    verb = event >> 3
    r = event & 7
    if r >= p.replicas:
        return False
    if verb == events.PRODUCE:
        return replication.produce(p, r)
    if verb == events.FETCH:
        return replication.fetch(p, r)
    if verb == events.RECEIVE:
        return replication.receive(p, r)
    if verb == events.DROP:
        return replication.drop(p, r)
    if verb == events.CRASH:
        return faults.crash(p, r)
    if verb == events.POWER_LOSS:
        return faults.power_loss(p, r)
    if verb == events.RESTART:
        return faults.restart(p, r)
    if verb == events.NOTIFY:
        return leadership.notify(p, r)
    if verb == events.CATCH_UP:
        return leadership.catch_up(p, r)
    if verb == events.ELECT:
        return controller.elect(p, r)
    if verb == events.EXPIRE:
        return controller.expire(p, r)
    if verb == events.SHRINK:
        return isr.shrink(p, r)
    if verb == events.EXPAND:
        return isr.expand(p, r)
    if verb == events.FLUSH:
        return faults.flush(p, r)
    return faults.checkpoint(p, r)
