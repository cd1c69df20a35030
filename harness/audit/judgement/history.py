"""History: order the events of one partition without a comparison of the clocks of different brokers.

The clocks of brokers differ. The events of one broker are therefore ordered by line within a file, and by time across
the broker's files. Leader epochs order the events of different brokers. If a topic is deleted and created again, its
leader epochs begin at 0 again. Each period from creation to deletion is a life of the topic, and this module separates
the lives. If the lines don't show which events belong together, the rules check each broker alone.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import attrgetter

from epochfuzz.harness.audit.lines.events import Event, MessageKind
from epochfuzz.harness.audit.lines.times import DAY

ROLES = (MessageKind.LEADER, MessageKind.FOLLOWER)
CUTS = (MessageKind.TRUNCATION, MessageKind.BELOW_HIGH_WATERMARK)
NOBODY = -1
_SLACK = 10_000  # milliseconds
_MINUTE = 60_000
_DATE = r"(?:\d{4}-\d\d-\d\d|(?:19|20)\d\d[01]\d[0-3]\d)[-T\d]*"  # in the name of a rotated file
_WITH_IDS = (*ROLES, MessageKind.CREATING, MessageKind.UNCLEAN)


@dataclass(frozen=True, kw_only=True)
class Placed:
    """An event of a broker, with the broker's leader epoch and role (leader or follower) after the event.

    `index` is the position among the broker's events. `topic_id` is from the line of the event, or from the broker's
    lines before and after this line.
    """

    event: Event
    broker: int
    index: int
    epoch: int | None  # the epoch after the event
    role: str | None
    before: int | None  # the epoch before the event
    topic_id: str | None


@dataclass(frozen=True)
class Life:
    """A partition from its creation to its deletion: the events of each broker in order.

    `is_sure` is false if some lines may belong to another life, because the topic may have been deleted and created
    again. The lines of this deletion may be missing.
    """

    topic: str
    partition: int
    brokers: dict[int, tuple[Placed, ...]] = field(repr=False)
    is_sure: bool = True

    @cached_property
    def placed(self) -> tuple[Placed, ...]:
        """Return all events, broker by broker."""
        return tuple(each for events in self.brokers.values() for each in events)

    @cached_property
    def reigns(self) -> dict[int, list[Placed]]:
        """Return the lines of new leaders by leader epoch. In each epoch, each broker has at most one line."""
        told: dict[int, dict[int, Placed]] = defaultdict(dict)
        for each in self.placed:
            if each.event.kind == MessageKind.LEADER and each.event.leader_epoch is not None:
                told[each.event.leader_epoch].setdefault(each.broker, each)
        return {epoch: list(told[epoch].values()) for epoch in sorted(told)}

    def of(self, *kinds: MessageKind) -> Iterator[Placed]:
        """Return the events of the given kinds, broker by broker."""
        return (each for each in self.placed if each.event.kind in kinds)

    def earlier(self, placed: Placed) -> Iterator[Placed]:
        """Return the earlier events of the same broker, the latest first."""
        events = self.brokers[placed.broker]
        return (events[i] for i in range(placed.index - 1, -1, -1))

    @cached_property
    def _cuts(self) -> dict[int, list[Placed]]:
        return {b: [e for e in own if e.event.kind in CUTS] for b, own in self.brokers.items()}

    def cut_below(self, placed: Placed, offset: int) -> Placed | None:
        """Return the next truncation by the same broker that removes records below an offset; None if there is none."""
        later = (cut for cut in self._cuts[placed.broker] if cut.index > placed.index)
        return next((cut for cut in later if (cut.event.offset or 0) < offset), None)

    @cached_property
    def unseen(self) -> list[int]:
        """Return the leader epochs that may have had a leader, although no broker's line says that it led."""
        leaderless = {each.event.leader_epoch for each in self.placed if each.event.leader == NOBODY}
        shown = {each.event.leader_epoch for each in self.of(*ROLES, MessageKind.STATE, MessageKind.TOLD)} - {None}
        told = self.reigns.keys() | leaderless
        if not self.reigns:  # before 0.11, leaders did not write at which offset they start
            return []
        epochs = range(min(self.reigns), max(filter(None, shown), default=-1) + 1)
        return [e for e in epochs if e not in told and any(self._may_have_led(b, e) for b in self._elected(e))]

    def _elected(self, epoch: int) -> set[int]:
        """Return the brokers that may have been elected leader of an epoch: all brokers if no line names the leader."""
        named = {each.event.leader for each in self.placed if each.event.leader_epoch == epoch} - {None, NOBODY}
        return {broker for broker in named if broker is not None} or {*self.brokers, *self.silent}

    def _may_have_led(self, broker: int, epoch: int) -> bool:
        """Return whether a broker may have led an epoch although no line shows this."""
        roles = [each for each in self.brokers.get(broker, ()) if each.event.kind in ROLES]
        for before, after in pairwise(roles):
            if (before.epoch or 0) < epoch < (after.epoch or 0):
                previous = after.event.previous_epoch
                return previous not in (None, NOBODY, before.epoch, after.epoch)
        last = next(
            (e for e in reversed(self.brokers.get(broker, ())) if e.event.kind in (*ROLES, MessageKind.DELETED)), None
        )
        return last is None or last.event.kind != MessageKind.DELETED

    @cached_property
    def silent(self) -> list[int]:
        """Return the brokers that other brokers' lines name, but that have no line about this partition themselves."""
        named = {member for each in self.placed for member in each.event.isr or ()}
        named |= {each.event.leader for each in self.placed if each.event.leader is not None}
        return sorted(named - self.brokers.keys() - {NOBODY})


def lives(
    events: Iterable[Event], is_one_cluster: bool = False, newest_first: frozenset[str] = frozenset()
) -> tuple[list[Life], bool]:
    """Return the lives of one partition, and whether its lines suffice to separate the lives.

    A life is a period from the creation of the topic to its deletion. `is_one_cluster` is true if all lines are of one
    cluster. `newest_first` are the files whose newest line is the first line.
    """
    by_broker: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.broker is not None:
            by_broker[event.broker].append(event)
    pieces = {broker: _pieces(_in_order(own, newest_first)) for broker, own in sorted(by_broker.items())}
    if not pieces:
        return [], True
    first = next(iter(by_broker.values()))[0]
    topic, partition = first.topic or "", first.partition or 0
    by_id = _by_topic_id(pieces)
    rows = by_id or _by_number(pieces)
    is_sure = by_id is not None or _is_one_life(pieces, is_one_cluster)
    if rows is not None:
        groups = [{b: piece for b, piece in zip(pieces, row, strict=True) if piece} for row in rows]
        return [Life(topic, partition, _placed(group), is_sure) for group in groups if group], True
    alone = [{broker: piece} for broker, own in pieces.items() for piece in own]
    return [Life(topic, partition, _placed(group), False) for group in alone], False


def stem(file: str) -> str:
    """Return the name of a file without the suffixes and dates that rotation and packing add."""
    name = re.sub(r"\.(?:gz|xz|zst|bz2)$", "", file.rpartition("/")[2])
    return re.sub(rf"\.\d{{1,5}}$|[._-]{_DATE}", "", name)


def _rotation(file: str) -> tuple[int, int, str]:
    """Return a sort key for a rotated file. The key sorts the oldest file first."""
    name = re.sub(r"\.(?:gz|xz|zst|bz2)$", "", file.rpartition("/")[2])
    dated = re.search(_DATE, name)
    numbered = re.search(r"\.(\d{1,5})$", name)
    if dated:
        return (0, 0, dated[0])
    return (1, -int(numbered[1]), "") if numbered else (2, 0, "")


def goes_forward(events: Iterable[Event]) -> bool:
    """Return whether a broker's leader epoch increases from one line of a file to a later line.

    Such a file is not in the reverse order, even if its times decrease.
    """
    epochs: dict[int | None, list[int]] = defaultdict(list)
    for event in sorted(events, key=lambda event: event.line):
        if event.kind in ROLES and event.leader_epoch is not None:
            epochs[event.broker].append(event.leader_epoch)
    return any(before < after for own in epochs.values() for before, after in pairwise(own))


def _by_line(events: Sequence[Event], newest_first: frozenset[str]) -> list[Event]:
    """Return events sorted by file, and by line within a file. Reverses the lines of the files in `newest_first`."""
    forward = sorted(events, key=lambda event: (event.file, event.line))
    if not newest_first:
        return forward
    forward = [event for event in forward if event.file not in newest_first]
    backward = [event for event in reversed(events) if event.file in newest_first]
    backward.sort(key=lambda event: (event.file, -event.line))
    return [*forward, *backward]


def _in_order(events: Sequence[Event], newest_first: frozenset[str]) -> list[Event]:
    """Return a broker's events in order: by line within a file, and by time across files.

    Files without dates are ordered by their rotation. An event that several files contain counts once, for example an
    event in server.log and in the journal of the same broker.
    """
    is_dated = any(event.time >= DAY for event in events)
    latest: dict[str, int] = {}
    keyed = []
    for position, event in enumerate(_by_line(events, newest_first)):
        time = event.time
        if not is_dated and time + DAY // 2 < latest.get(event.file, time) % DAY:  # past midnight
            time += DAY
        if not is_dated:
            time += latest.get(event.file, 0) // DAY * DAY
        latest[event.file] = time = max(time, latest.get(event.file, time))
        place = (0, 0, "") if is_dated else _rotation(event.file)
        # Since 2.6, roles are in state-change.log. At equal times, a role comes before its effects in other files.
        keyed.append(((place, time, "state-change" not in event.file, event.file, position), event))
    keyed.sort(key=lambda pair: pair[0])
    if not is_dated or len(latest) < 2:
        return [event for _, event in keyed]
    seen = set()
    ordered: list[Event] = []
    for _, event in keyed:
        same = (event.time, event.kind, *_what_it_says(event))
        if same not in seen or event.file == ordered[-1].file:
            ordered.append(event)
        seen.add(same)
    return ordered


# The fields that are equal if two files contain the same event in different layouts or envelopes.
_what_it_says = attrgetter(
    *("topic_id", "leader_epoch", "partition_epoch", "offset", "end_offset", "high_watermark", "isr", "leader"),
    *("previous_leader", "previous_epoch"),
)


def _pieces(events: list[Event]) -> list[list[Event]]:
    """Split a broker's events into lives of the topic.

    A new life begins at a line with another topic id, or with a lower epoch than an earlier line. If there was a
    deletion before this line, the new life begins after the deletion. A deletion alone does not begin a life: if later
    epochs continue the earlier ones, the replica was moved away and back.
    """
    pieces: list[list[Event]] = [[]]
    highest, topic_id, was_deleted = -1, None, False
    for event in events:
        epoch = event.leader_epoch if event.kind in (*ROLES, MessageKind.TOLD) else None
        if epoch is not None or event.kind == MessageKind.CREATING:
            is_other = None not in (event.topic_id, topic_id) and event.topic_id != topic_id
            is_earlier = epoch is not None and (epoch < highest or (was_deleted and epoch == highest))
            if is_other or is_earlier:
                deletions = [i for i, each in enumerate(pieces[-1]) if each.kind == MessageKind.DELETED]
                start = deletions[0] + 1 if deletions else len(pieces[-1])
                pieces.append(pieces[-1][start:])
                del pieces[-2][start:]
                highest, topic_id = -1, None
            highest, topic_id = max(highest, -1 if epoch is None else epoch), event.topic_id or topic_id
            was_deleted = was_deleted and epoch is None
        was_deleted = was_deleted or event.kind == MessageKind.DELETED
        pieces[-1].append(event)
    return pieces


def _is_one_life(pieces: "Pieces", is_one_cluster: bool) -> bool:
    """Return whether all lines are consistent with a single life of the topic, from its creation to its deletion."""
    if any(len(own) > 1 or _is_made_again(own[0]) for own in pieces.values()):
        return False
    firsts = {broker: own[0] for broker, own in pieces.items()}
    if not any(event.topic_id for piece in firsts.values() for event in piece) and _contradict(firsts, is_one_cluster):
        return False
    any_deleted = any(event.kind == MessageKind.DELETED for piece in firsts.values() for event in piece)
    return not any_deleted or _are_of_one_time(list(firsts.values()))


def _is_made_again(piece: Sequence[Event]) -> bool:
    """Return whether a broker creates a log although it had one before, or has lines after the deletion of a log.

    Such lines may belong to several lives of the topic (periods from its creation to its deletion). If the lines before
    and after the creation name one topic id, all lines belong to one life, and the log is now on another disk.
    """
    ids = _ids(piece)
    made = [
        (event.kind, topic_id)
        for event, topic_id in zip(piece, ids, strict=True)
        if event.kind in (*ROLES, MessageKind.CREATED, MessageKind.DELETED)
    ]
    return any(kind == MessageKind.CREATED and topic_id is None for kind, topic_id in made[1:]) or any(
        kind == MessageKind.DELETED for kind, _ in made[:-1]
    )


def _contradict(pieces: dict[int, list[Event]], is_one_cluster: bool) -> bool:
    """Return whether lines without topic ids contradict each other, as lines of several lives or clusters do."""
    if any(_takes_a_role_as_new_twice(piece) for piece in pieces.values()):
        return True
    roles = [e for piece in pieces.values() for e in piece if e.kind in ROLES and e.time >= DAY]
    roles.sort(key=lambda e: e.time)
    highest: dict[int | None, tuple[int, int]] = {}  # by broker: its highest epoch, and the time of that line
    for event in roles:
        epoch = event.leader_epoch or 0
        if any(e > epoch and t + _MINUTE < event.time for b, (e, t) in highest.items() if b != event.broker):
            return True
        if epoch > highest.get(event.broker, (-1, 0))[0]:
            highest[event.broker] = (epoch, event.time)
    if is_one_cluster:
        return False
    leaders: dict[int | None, set[int | None]] = defaultdict(set)
    for piece in pieces.values():
        for event in piece:
            if event.kind == MessageKind.LEADER:
                leaders[event.leader_epoch].add(event.broker)
    return any(len(each) > 1 for each in leaders.values()) or not _are_connected(pieces)


def _takes_a_role_as_new_twice(piece: Sequence[Event]) -> bool:
    """Return whether a broker contradicts its own earlier lines.

    There are two contradictions. The broker says that it was neither leader nor follower before, although earlier lines
    show such a role, and no line shows a restart. Or its log ends below a high watermark that it showed earlier, and no
    line shows a truncation.
    """
    had_role = was_loaded = False
    shown = 0
    for event in piece:
        if event.kind in (MessageKind.LOADED, MessageKind.LOG, MessageKind.CREATED, MessageKind.CREATING):
            was_loaded = True
        if event.kind in (*CUTS, MessageKind.RESET, MessageKind.CORRUPTION, MessageKind.CREATED):
            shown = 0
        if event.kind in ROLES:
            if had_role and not was_loaded and event.previous_epoch == NOBODY:
                return True
            if event.offset is not None and event.offset < shown:
                return True
            had_role, was_loaded = True, False
        if event.kind in (*ROLES, MessageKind.SHRINK) and event.high_watermark is not None:
            end = event.end_offset if event.kind == MessageKind.SHRINK else event.offset
            shown = max(shown, min(event.high_watermark, event.high_watermark if end is None else end))
    return False


def _are_connected(pieces: dict[int, list[Event]]) -> bool:
    """Return whether all brokers are connected: a line connects its broker with each broker that the line names."""
    reached = {next(iter(pieces))}
    named = {
        broker: {m for e in piece for m in (*(e.isr or ()), e.leader, e.previous_leader) if m is not None}
        for broker, piece in pieces.items()
    }
    while True:
        more = {b for b in pieces if b not in reached and (named[b] & reached or any(b in named[r] for r in reached))}
        if not more:
            return reached == pieces.keys()
        reached |= more


Pieces = dict[int, list[list[Event]]]


def _by_number(pieces: Pieces) -> list[list[list[Event]]] | None:
    """Return the first pieces of all brokers as a group, the second pieces, and so on, or None if they don't match.

    A piece holds the events of a broker in one life of the topic. The pieces match if all brokers have the same number
    of pieces, and if the pieces of each group overlap in time and name at most one topic id.
    """
    counts = {len(own) for own in pieces.values()}
    if len(counts) > 1:
        return None
    rows = [[own[i] for own in pieces.values()] for i in range(counts.pop())]
    ids = [{e.topic_id for piece in row for e in piece if e.kind in _WITH_IDS} - {None} for row in rows]
    may_be = all(len(own) < 2 for own in ids) and (len(rows) == 1 or all(map(_are_of_one_time, rows)))
    return rows if may_be else None


def _are_of_one_time(pieces: Sequence[Sequence[Event]]) -> bool:
    """Return whether several series of events overlap in time. Up to 10 s between them are allowed: clocks differ."""
    dated = [[event.time for event in piece if event.time >= DAY] for piece in pieces]
    times = [own for own in dated if own]
    return max(min(own) for own in times) - min(max(own) for own in times) <= _SLACK if times else True


def _by_topic_id(pieces: Pieces) -> list[list[list[Event]]] | None:
    """Return the pieces of all brokers, grouped by topic id. A piece holds a broker's events in one life of the topic.

    Returns None if a piece has no topic id, or if two pieces of a broker have the same id.
    """
    ids = {broker: [_topic_id(piece) for piece in own] for broker, own in pieces.items()}
    every = list(dict.fromkeys(each for own in ids.values() for each in own))
    if None in every or any(len(own) != len(set(own)) for own in ids.values()):
        return None
    return [[own[ids[b].index(each)] if each in ids[b] else [] for b, own in pieces.items()] for each in every]


def _topic_id(piece: Sequence[Event]) -> str | None:
    told = {event.topic_id for event in piece if event.topic_id is not None and event.kind in _WITH_IDS}
    return told.pop() if len(told) == 1 else None


def _ids(piece: Sequence[Event]) -> list[str | None]:
    """Return the topic id of each event. An event without an id gets the id that the lines on both sides of it name."""
    before: list[str | None] = []
    known: str | None = None
    for event in piece:
        known = event.topic_id if event.topic_id and event.kind in _WITH_IDS else known
        known = None if event.kind == MessageKind.DELETED else known
        before.append(known)
    ids: list[str | None] = []
    known = None
    for event, earlier in zip(reversed(piece), reversed(before), strict=True):
        known = None if event.kind == MessageKind.DELETED else known
        known = event.topic_id if event.topic_id and event.kind in _WITH_IDS else known
        ids.append(event.topic_id or (earlier if earlier == known else None))
    return ids[::-1]


def _placed(group: dict[int, list[Event]]) -> dict[int, tuple[Placed, ...]]:
    return {broker: tuple(_with_roles(broker, events)) for broker, events in group.items()}


def _with_roles(broker: int, events: Sequence[Event]) -> Iterator[Placed]:
    epoch: int | None = None
    role: str | None = None
    for index, (event, topic_id) in enumerate(zip(events, _ids(events), strict=True)):
        before = epoch
        if event.kind in ROLES:
            epoch, role = event.leader_epoch, event.kind
        elif event.kind == MessageKind.TOLD:
            if event.leader_epoch != epoch:
                role = MessageKind.LEADER if event.leader == broker else MessageKind.FOLLOWER
            epoch = event.leader_epoch
        yield Placed(event=event, broker=broker, index=index, epoch=epoch, role=role, before=before, topic_id=topic_id)
