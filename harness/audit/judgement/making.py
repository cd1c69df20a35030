"""Create findings, with the lines that show them and the timeline rows around these lines."""

from collections.abc import Sequence

from epochfuzz.harness.audit.judgement.findings import PartitionFinding, What
from epochfuzz.harness.audit.judgement.history import ROLES, Life, Placed
from epochfuzz.harness.audit.lines.events import Event, MessageKind

_BESIDE = 2  # number of timeline rows before and after a line that shows a finding
_OF_TIMELINES = frozenset(MessageKind) - {
    MessageKind.TRUNCATING,
    MessageKind.NO_TRUNCATION,
    MessageKind.LOG,
    MessageKind.CREATING,
}


def are_of_one_life(life: Life, one: Placed, other: Placed) -> bool:
    """Return whether two lines are of one life of a topic: the period from its creation to its deletion.

    The topic ids of the two lines must not differ. If `life.is_sure` is false, both lines must have the same topic id.
    """
    ids = {one.topic_id, other.topic_id}
    return len(ids - {None}) < 2 if life.is_sure else len(ids) == 1 and None not in ids


def start_of(event: Event) -> int:
    """Return the log end offset of a leader when its leader epoch starts. `event` is the line of the new leader."""
    assert event.offset is not None
    return event.offset


def finding_of(
    life: Life,
    what: What,
    offsets: tuple[int, int] | None,
    epoch: int | None,
    told: str,
    evidence: Sequence[Placed],
    passed: bool = False,
) -> PartitionFinding:
    """Return a finding with its lines of evidence, each once, and the timeline rows around these lines.

    `offsets` are the first and the last offset concerned. `told` is the finding in words.
    """
    first, last = offsets or (None, None)
    lines = tuple(dict.fromkeys(each.event for each in evidence))
    return PartitionFinding(
        what=what,
        topic=life.topic,
        partition=life.partition,
        first_offset=first,
        last_offset=last,
        leader_epoch=epoch,
        time=lines[-1].time,
        told=told,
        evidence=lines,
        around=_around(life, evidence),
        passed=passed,
    )


def _around(life: Life, evidence: Sequence[Placed]) -> tuple[Event, ...]:
    """Return the timeline of a finding: its lines, and for each broker a few lines before and after them.

    The rows are ordered by leader epoch. Within an epoch, they are ordered by the brokers' clocks.
    """
    near = []
    for broker, own in life.brokers.items():
        dated = [(epoch, each) for epoch, each in _by_epoch(own) if each.event.kind in _OF_TIMELINES]
        shown = {each.index for each in evidence if each.broker == broker}
        places = [i for i, (_, each) in enumerate(dated) if each.index in shown]
        close = {i for place in places for i in range(place - _BESIDE, place + _BESIDE + 1)}
        near += [(epoch, each.event) for i, (epoch, each) in enumerate(dated) if i in close]
    near.sort(key=lambda pair: (pair[0], pair[1].time))
    return tuple(event for _, event in near)


def _by_epoch(events: Sequence[Placed]) -> list[tuple[int, Placed]]:
    """Return a broker's events with their leader epochs.

    The events of a start (a log is loaded, created or recovered) get the leader epoch of the broker's next role (leader
    or follower).
    """
    following, dated = 0, []
    for each in reversed(events):
        if each.event.kind in ROLES and each.epoch is not None:
            following = each.epoch
        begins = (
            each.event.kind in (MessageKind.LOADED, MessageKind.CREATED, MessageKind.RECOVERY, MessageKind.CORRUPTION)
            or each.epoch is None
        )
        dated.append((following if begins or each.epoch is None else each.epoch, each))
    return dated[::-1]
