"""Describe a controller failover, and the later acts of the deposed controller."""

from collections.abc import Iterator

from epochfuzz.harness.trace.change import Change, isr_of, listed
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES
from epochfuzz.model.kafka.vocabulary.in_force import rival_decides, rival_overwrites
from epochfuzz.model.kafka.vocabulary.state import NONE, Rival, State


def failover(c: Change) -> Iterator[str]:
    """Describe the event `failover`: another broker becomes the controller."""
    yield f"another broker becomes controller, at epoch {c.after.controller_epoch} as the old one, which does not know"
    if not rival_decides(c.after):
        yield "all further writes of the old controller fail: they carry an earlier controller epoch"


def rival_elect(c: Change) -> Iterator[str]:
    """Describe the event `rival_elect`: the deposed controller elects a leader."""
    if rival_overwrites(c.after):
        decided = f"{c.name} leader of epoch {c.after.rival_epoch + 1}, ISR {listed(c.after.rival_isr)}"
        yield f"the old controller makes {decided}: nothing is checked, and the new controller does not see it"
    else:
        decided = f"{c.name} leader of epoch {c.after.controller_epoch}, ISR {isr_of(c.after)}"
        yield f"the old controller makes {decided}: its conditional write succeeds, because nothing has changed since"


def rival_notify(c: Change) -> Iterator[str]:
    """Describe the event `rival_notify`: a replica receives a request of the deposed controller.

    The result does not describe how the replica reacts. The caller must add this reaction.
    """
    yield f"the old controller's request reaches {c.name}, at epoch {_known(c.before, c.r)} until now"


def two_leaders(c: Change) -> Iterator[str]:
    """Yield a clause for each new pair of leaders with the same epoch.

    Requests between replicas carry only the epoch, so no replica can distinguish the two leaders.
    """
    for r in range(c.after.replicas):
        for other in range(r):
            if _of_one_epoch(c.after, r, other) and not _of_one_epoch(c.before, r, other):
                names = f"{REPLICA_NAMES[other]} and {REPLICA_NAMES[r]}"
                yield f"{names} both lead epoch {c.after.known_epoch[r]}, and no leader epoch distinguishes them"


def is_of_rival(p: State, r: int) -> bool:
    """Return whether r leads because the deposed controller elected it, in an epoch that is not outdated."""
    return p.known_leader[r] == r and p.known_epoch[r] >= p.controller_epoch and controller.leader(p) != r


def describe(p: State) -> str:
    """Return the deposed controller's view, as in `old: C leads e1, ISR A,B,C`. Empty if there is nothing to show."""
    if p.rival == Rival.ABSENT:
        return ""
    if not rival_overwrites(p) or p.rival == Rival.DEPOSED:
        return "old controller lives on" if p.rival == Rival.DEPOSED else ""
    return f"old: {REPLICA_NAMES[p.rival_leader]} leads e{p.rival_epoch + 1}, ISR {listed(p.rival_isr)}"


def _of_one_epoch(p: State, r: int, other: int) -> bool:
    leads = p.known_leader[r] == r and p.known_leader[other] == other
    return bool(leads and p.known_epoch[r] == p.known_epoch[other])


def _known(p: State, r: int) -> str:
    return "none" if p.known_epoch[r] == NONE else str(p.known_epoch[r])
