"""A toy log of three verbs, to run the engine on: a leader appends, followers copy, and anybody may be elected.

An eager leader promises a record as soon as it has it, and loses it with the next election. A patient one waits until
everybody has it. A stubborn follower does not truncate what a new leader has not, so that logs never agree.
"""

from epochfuzz.model.core.fields import Field, State
from epochfuzz.model.core.model import APPLIED
from epochfuzz.model.core.simple_model import ONE_REPLICA, REPLICA, Property, Verb, simple_model, up_to

DOES_NOT_LEAD, IS_FULL, LEADS, HAS_THE_SAME, IS_LONGER, TOO_OFTEN = range(2, 8)


def append(p: State, r: int) -> int:
    """The leader appends a record."""
    if p.leader != r:
        return DOES_NOT_LEAD
    if p.length[r] == p.records:
        return IS_FULL
    p.length[r] += 1
    promise(p)
    return APPLIED


def copy(p: State, r: int) -> int:
    """A follower copies the leader's next record, or truncates its own last one that the leader has not."""
    if p.leader == r:
        return LEADS
    if p.length[r] == p.length[p.leader]:
        return HAS_THE_SAME
    if p.length[r] > p.length[p.leader] and not p.cuts:
        return IS_LONGER
    p.length[r] += 1 if p.length[r] < p.length[p.leader] else -1
    promise(p)
    return APPLIED


def elect(p: State, r: int) -> int:
    """Another replica becomes the leader."""
    if p.leader == r:
        return LEADS
    if p.held == p.elections:
        return TOO_OFTEN
    p.leader = r
    p.held += 1
    return APPLIED


def promise(p: State) -> None:
    """Promise what the leader has, or what everybody has, if that is more than before."""
    kept = p.length[p.leader]
    if p.waits:
        for r in range(p.replicas):
            kept = min(kept, p.length[r])
    p.promised = max(p.promised, kept)


def is_lost(p: State) -> bool:
    """A record that was promised is not in the leader's log."""
    return p.length[p.leader] < p.promised


def differ(p: State) -> bool:
    """Logs differ, though everybody has copied what there is."""
    apart = False
    for r in range(p.replicas):
        apart |= p.length[r] != p.length[p.leader]
    return apart


def copy_all(p: State) -> None:
    """Have everybody copy what there is."""
    for _ in range(p.records):
        for r in range(p.replicas):
            copy(p, r)


LOG = simple_model(
    "log",
    fields=(
        Field("length", up_to("records"), (REPLICA,)),
        Field("leader", ONE_REPLICA),
        Field("promised", up_to("records")),
        Field("held", up_to("elections")),
    ),
    verbs=(Verb(append, dealt=2), Verb(copy, dealt=3), Verb(elect)),
    properties=(Property("no-loss", is_lost), Property("agreement", differ, at_end=True)),
    settings={"replicas": 3, "records": 2, "elections": 2},
    bounds=("records", "elections"),
    protocols={
        "eager": {"waits": 0, "cuts": 1},
        "patient": {"waits": 1, "cuts": 1},
        "stubborn": {"waits": 1, "cuts": 0},
    },
    heal=copy_all,
    symmetric=True,
)
