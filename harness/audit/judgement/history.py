"""History: what the lines tell of one partition, in an order that does not depend on clocks of several brokers.

Brokers' clocks differ, so events are put in order within a broker only: by line within a file, and by time between its
files. Between brokers it is leader epochs that tell what was before what. A topic that was deleted and created again
begins with epoch 0 anew: its lives are told apart, and where the lines do not say which is which, brokers are judged
each for itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from epochfuzz.harness.audit.lines.events import Event, Kind

ROLES = (Kind.LEADER, Kind.FOLLOWER)
CUTS = (Kind.TRUNCATION, Kind.BELOW_HIGH_WATERMARK)
NOBODY = -1
_SLACK = 10_000  # milliseconds


@dataclass(frozen=True)
class Placed:
    """An event, with what its broker was by its own lines before: the epoch and the kind of its last role.

    `index` is its place among the broker's events.
    """

    event: Event
    broker: int
    index: int
    epoch: int | None  # after the event
    role: str | None
    before: int | None  # the epoch before the event


@dataclass(frozen=True)
class Life:
    """A partition from its creation to its deletion, as far as lines tell of it: each broker's events in order.

    `is_sure` is false where the topic was created again and some broker's lines do not say themselves of which life
    they are: a line that is missing would have told.
    """

    topic: str
    partition: int
    brokers: dict[int, tuple[Placed, ...]] = field(repr=False)
    is_sure: bool = True

    @cached_property
    def placed(self) -> tuple[Placed, ...]:
        """All events, broker by broker."""
        return tuple(each for events in self.brokers.values() for each in events)

    @cached_property
    def reigns(self) -> dict[int, list[Placed]]:
        """By leader epoch, in order: who has said that it leads, each broker once."""
        told: dict[int, dict[int, Placed]] = defaultdict(dict)
        for each in self.placed:
            if each.event.kind == Kind.LEADER and each.event.leader_epoch is not None:
                told[each.event.leader_epoch].setdefault(each.broker, each)
        return {epoch: list(told[epoch].values()) for epoch in sorted(told)}

    def of(self, *kinds: Kind) -> Iterator[Placed]:
        """Return the events of some kinds."""
        return (each for each in self.placed if each.event.kind in kinds)

    def earlier(self, placed: Placed) -> Iterator[Placed]:
        """Return what the same broker told before, the latest first."""
        events = self.brokers[placed.broker]
        return (events[i] for i in range(placed.index - 1, -1, -1))

    @cached_property
    def _cuts(self) -> dict[int, list[Placed]]:
        return {b: [e for e in own if e.event.kind in CUTS] for b, own in self.brokers.items()}

    def cut_below(self, placed: Placed, offset: int) -> Placed | None:
        """Return the first truncation below an offset that the same broker tells of afterwards."""
        later = (cut for cut in self._cuts[placed.broker] if cut.index > placed.index)
        return next((cut for cut in later if (cut.event.offset or 0) < offset), None)

    @cached_property
    def unseen(self) -> list[int]:
        """Leader epochs between those that are told of, which nobody says that he led."""
        leaderless = {each.event.leader_epoch for each in self.placed if each.event.leader == NOBODY}
        told = self.reigns.keys() | leaderless
        return [e for e in range(min(self.reigns, default=0), max(self.reigns, default=0)) if e not in told]

    @cached_property
    def silent(self) -> list[int]:
        """Brokers that others name, and of which there is no line on this partition."""
        named = {member for each in self.placed for member in each.event.isr or ()}
        named |= {each.event.leader for each in self.placed if each.event.leader is not None}
        return sorted(named - self.brokers.keys() - {NOBODY})


def lives(events: Iterable[Event]) -> tuple[list[Life], bool]:
    """Return the lives of one partition, from its events, all of known brokers; and whether it is told
    which is which.
    """
    by_broker: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.broker is not None:
            by_broker[event.broker].append(event)
    pieces = {broker: _pieces(_in_order(own)) for broker, own in sorted(by_broker.items())}
    if not pieces:
        return [], True
    first = next(iter(by_broker.values()))[0]
    topic, partition = first.topic or "", first.partition or 0
    by_id = _by_topic_id(pieces)
    rows = by_id or _by_number(pieces)
    is_sure = by_id is not None or _is_one_life(list(pieces.values()))
    if rows is not None:
        groups = [{b: piece for b, piece in zip(pieces, row, strict=True) if piece} for row in rows]
        return [Life(topic, partition, _placed(group), is_sure) for group in groups if group], True
    alone = [{broker: piece} for broker, own in pieces.items() for piece in own]
    return [Life(topic, partition, _placed(group), False) for group in alone], False


def _in_order(events: Sequence[Event]) -> list[Event]:
    """Return a broker's events: lines of a file as they stand there, files among one another by time. What several
    files have, as server.log and what a service manager keeps of the same output, counts once.
    """
    latest: dict[str, int] = {}
    keyed = []
    for event in sorted(events, key=lambda event: (event.file, event.line)):
        latest[event.file] = time = max(event.time, latest.get(event.file, event.time))
        # Roles are in state-change.log since 2.6, and come before what they bring about.
        keyed.append(((time, "state-change" not in event.file, event.file, event.line), event))
    keyed.sort(key=lambda pair: pair[0])
    seen = set()
    ordered: list[Event] = []
    for _, event in keyed:
        same = (event.time, event.kind, event.text)
        if same not in seen or event.file == ordered[-1].file:
            ordered.append(event)
        seen.add(same)
    return ordered


def _pieces(events: list[Event]) -> list[list[Event]]:
    """Return a broker's events by lives. A deletion ends one, unless epochs go on where they were: then the replica was
    moved away, and has come back. Another topic id begins one, and so does an epoch below those before.
    """
    pieces: list[list[Event]] = [[]]
    highest, topic_id, was_deleted = -1, None, False
    for event in events:
        if event.kind in (*ROLES, Kind.TOLD) and event.leader_epoch is not None:
            is_other = None not in (event.topic_id, topic_id) and event.topic_id != topic_id
            if is_other or event.leader_epoch < highest or (was_deleted and event.leader_epoch == highest):
                deletions = [i for i, each in enumerate(pieces[-1]) if each.kind == Kind.DELETED]
                start = deletions[0] + 1 if deletions else len(pieces[-1])
                pieces.append(pieces[-1][start:])
                del pieces[-2][start:]
                highest, topic_id = -1, None
            highest, topic_id = max(highest, event.leader_epoch), event.topic_id or topic_id
            was_deleted = False
        was_deleted = was_deleted or event.kind == Kind.DELETED
        pieces[-1].append(event)
    return pieces


def _is_one_life(pieces: Sequence[list[list[Event]]]) -> bool:
    """Whether there has been one life only, as far as anybody's lines can tell."""
    if any(len(own) > 1 or _is_made_again(own[0]) for own in pieces):
        return False
    firsts = [own[0] for own in pieces]
    any_deleted = any(event.kind == Kind.DELETED for piece in firsts for event in piece)
    return not any_deleted or _are_of_one_time(firsts)


def _is_made_again(piece: Sequence[Event]) -> bool:
    """Whether a log was made where there had been one, or is deleted and goes on: a line that is missing may have told
    of another life."""
    kinds = [event.kind for event in piece if event.kind in (*ROLES, Kind.CREATED, Kind.DELETED)]
    return Kind.CREATED in kinds[1:] or Kind.DELETED in kinds[:-1]


Pieces = dict[int, list[list[Event]]]


def _by_number(pieces: Pieces) -> list[list[list[Event]]] | None:
    """Return the first, second, ... pieces of all brokers, if all have as many, and they may be of the same time."""
    counts = {len(own) for own in pieces.values()}
    if len(counts) > 1:
        return None
    rows = [[own[i] for own in pieces.values()] for i in range(counts.pop())]
    ids = [{event.topic_id for piece in row for event in piece} - {None} for row in rows]
    may_be = all(len(own) < 2 for own in ids) and (len(rows) == 1 or all(map(_are_of_one_time, rows)))
    return rows if may_be else None


def _are_of_one_time(pieces: Sequence[Sequence[Event]]) -> bool:
    """Whether each piece overlaps with all others, but for some seconds by which clocks differ."""
    times = [[event.time for event in piece] for piece in pieces if piece]
    return max(min(own) for own in times) - min(max(own) for own in times) <= _SLACK if times else True


def _by_topic_id(pieces: Pieces) -> list[list[list[Event]]] | None:
    """Return the pieces of all brokers by topic id, if each piece of a broker has one of its own."""
    ids = {broker: [_topic_id(piece) for piece in own] for broker, own in pieces.items()}
    every = list(dict.fromkeys(each for own in ids.values() for each in own))
    if None in every or any(len(own) != len(set(own)) for own in ids.values()):
        return None
    return [[own[ids[b].index(each)] if each in ids[b] else [] for b, own in pieces.items()] for each in every]


def _topic_id(piece: Sequence[Event]) -> str | None:
    told = {event.topic_id for event in piece if event.topic_id is not None}
    return told.pop() if len(told) == 1 else None


def _placed(group: dict[int, list[Event]]) -> dict[int, tuple[Placed, ...]]:
    return {broker: tuple(_with_roles(broker, events)) for broker, events in group.items()}


def _with_roles(broker: int, events: Sequence[Event]) -> Iterator[Placed]:
    epoch: int | None = None
    role: str | None = None
    for index, event in enumerate(events):
        before = epoch
        if event.kind in ROLES:
            epoch, role = event.leader_epoch, event.kind
        elif event.kind == Kind.TOLD:
            if event.leader_epoch != epoch:
                role = Kind.LEADER if event.leader == broker else Kind.FOLLOWER
            epoch = event.leader_epoch
        yield Placed(event, broker, index, epoch, role, before)
