"""Rules: derive findings from the history of a partition. A rule finds nothing without the lines that it needs.

Kafka's guarantee is: if a broker has shown a high watermark, every leader of a later epoch has all records below this
high watermark, at their offsets. The line of a new leader shows the end of the leader's log.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile

from epochfuzz.harness.audit.judgement.findings import PartitionFinding, What, in_order
from epochfuzz.harness.audit.judgement.history import NOBODY, ROLES, Life, Placed, goes_forward, lives
from epochfuzz.harness.audit.judgement.making import are_of_one_life, finding_of, start_of
from epochfuzz.harness.audit.judgement.truncations import truncated_below_high_watermark, undecided_truncations
from epochfuzz.harness.audit.lines.events import Event, MessageKind

_FIRST_WITHOUT_ZOOKEEPER = 4
# Lines of a log that becomes shorter. They are harmless or a loss, and only the log of a leader shows which.
_SHORTER = frozenset(
    (
        *(MessageKind.TRUNCATION, MessageKind.TRUNCATING, MessageKind.BELOW_HIGH_WATERMARK, MessageKind.NON_MONOTONIC),
        *(MessageKind.RESET, MessageKind.CORRUPTION),
    )
)
# Lines that name a leader, or that only a leader writes.
_OF_LEADERS = frozenset(
    (*ROLES, MessageKind.STATE, MessageKind.TOLD, MessageKind.ISR, MessageKind.SHRINK, MessageKind.UNCLEAN)
)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The findings of one partition, and the questions that its lines leave open."""

    findings: list[PartitionFinding]
    unseen: int  # number of leader epochs that no line of a leader shows
    silent: tuple[int, ...]  # brokers that lines name, but that have no line themselves
    told_apart: bool  # whether the lines suffice to separate the lives of a topic that was created again
    lacks_leader: bool  # whether lines show that a log became shorter, and no line names a leader
    latest: int  # the greatest leader epoch that a line shows, -1 if none does
    undecided: tuple[str, ...] = ()  # possible losses that the lines neither prove nor exclude, in words


def judge(
    events: Sequence[Event],
    clocks_back: frozenset[int] = frozenset(),
    newest: int | None = None,
    is_one_cluster: bool = False,
    newest_first: frozenset[str] = frozenset(),
) -> Judged:
    """Check one partition by its events. Returns its findings, and the questions that its lines leave open.

    `clocks_back` are brokers whose clock went back, so that audit does not know the order of their files. `newest` is
    the highest major release of the brokers, None if no line shows it. `is_one_cluster` is true if the brokers' own
    lines name the same cluster. `newest_first` are files whose times decrease. If the leader epochs increase in such a
    file, its clock was wrong, and its lines are in order.
    """
    wrong = {file for file in newest_first if goes_forward(event for event in events if event.file == file)}
    clocks_back |= {event.broker for event in events if event.file in wrong and event.broker is not None}
    kinds = {event.kind for event in events}
    told, told_apart = lives(events, is_one_cluster, newest_first - wrong)
    findings: list[PartitionFinding] = []
    possible: list[PartitionFinding] = []
    sure = [life if life.is_sure else replace(life, is_sure=True) for life in told]
    for life, as_sure in zip(told, sure, strict=True):
        if_sure = list(_judged(as_sure, clocks_back, newest))
        # In a life that is not sure, the rules compare fewer pairs of lines than in a sure life with the same lines. So
        # if the sure life has no finding, the rules need not run again.
        findings += if_sure if life.is_sure or not if_sure else _judged(life, clocks_back, newest)
        possible += if_sure
    undecided = [each for life in sure for each in undecided_truncations(life)]
    return Judged(
        findings=in_order(findings),
        unseen=sum(len(life.unseen) for life in sure),
        silent=tuple(sorted({broker for life in sure for broker in life.silent})),
        told_apart=told_apart,
        lacks_leader=not _SHORTER.isdisjoint(kinds) and _OF_LEADERS.isdisjoint(kinds),
        latest=max((event.leader_epoch for event in events if event.leader_epoch is not None), default=-1),
        undecided=tuple(dict.fromkeys([*undecided, *_undecided(findings, possible)])),
    )


def _undecided(findings: Sequence[PartitionFinding], possible: Sequence[PartitionFinding]) -> Iterator[str]:
    """Yield a sentence for each finding in `possible` that is not in `findings`.

    A possible finding is a loss only if all lines are of one life of the topic, from its creation to its deletion.
    """
    found = {(finding.what, finding.first_offset, finding.leader_epoch) for finding in findings}
    for each in possible:
        if not each.passed and (each.what, each.first_offset, each.leader_epoch) not in found:
            offsets = "" if each.first_offset is None else f" of offsets {each.offsets}"
            yield (
                f"{each.what}{offsets} in epoch {each.leader_epoch}, or a topic that was deleted and created again, or"
                " lines of two clusters: no topic id says which. Add the lines of the deletion, of the start-up of each"
                " broker, or older files"
            )


def _judged(life: Life, clocks_back: frozenset[int], newest: int | None) -> Iterator[PartitionFinding]:
    yield from _committed_loss(life, clocks_back)
    yield from _re_elected_leader(life)
    yield from _unclean_election(life, newest)
    yield from truncated_below_high_watermark(life)
    yield from _diverged(life)


# committed-loss


@dataclass(frozen=True)
class _Shown:
    """A high watermark in a broker's line. All records below this offset were committed before epoch `before`."""

    high_watermark: int
    before: int
    placed: Placed


@dataclass(frozen=True)
class _Lost:
    """A loss: a leader of `epoch` started at offset `start`, but all records below offset `end` had been committed."""

    epoch: int
    start: int
    end: int


def _committed_loss(life: Life, clocks_back: frozenset[int]) -> Iterator[PartitionFinding]:
    """Find leaders whose log, at the start of their epoch, ends below a high watermark of an earlier epoch."""
    shown = sorted(_shown(life, clocks_back), key=lambda s: s.before)
    lost: list[_Lost] = []
    number = highest = 0  # number of the high watermarks shown before an epoch, and the highest of them
    for epoch, leaders in life.reigns.items():
        while number < len(shown) and shown[number].before <= epoch:
            highest = max(highest, shown[number].high_watermark)
            number += 1
        for leader in leaders:
            start = start_of(leader.event)
            if highest <= start:  # nearly always true, so this saves time if a partition has thousands of epochs
                continue
            before = (s for s in shown[:number] if are_of_one_life(life, s.placed, leader))
            over = [(_still_promised(s, lost), s) for s in before]
            promised, most = max(over, key=lambda pair: pair[0], default=(start, None))
            if most is None or promised <= start:
                continue
            lost.append(_Lost(epoch, start, promised))
            yield finding_of(
                life,
                What.COMMITTED_LOSS,
                (start, promised - 1),
                epoch,
                f"Broker {most.placed.broker} showed a high watermark of {most.high_watermark:,}, reached before epoch"
                f" {most.before}; broker {leader.broker} leads epoch {epoch} from offset {start:,}, without the"
                " committed records from there on.",
                [most.placed, leader, *_cut_to(life, most.placed, most.high_watermark)],
            )


def _still_promised(shown: _Shown, lost: Sequence[_Lost]) -> int:
    """Return a high watermark, lowered to exclude records that an earlier finding reports as lost.

    A follower that returns shows its old high watermark until it truncates its log. The records below this old high
    watermark may have been lost while the follower was away.
    """
    promised = shown.high_watermark
    for each in lost:
        is_late = shown.placed.role != MessageKind.LEADER and shown.high_watermark <= each.end
        if shown.before <= each.epoch or is_late:
            promised = min(promised, each.start)
    return promised


def _shown(life: Life, clocks_back: frozenset[int]) -> Iterator[_Shown]:
    for each in life.of(MessageKind.LEADER, MessageKind.FOLLOWER, MessageKind.SHRINK):
        event = each.event
        if event.high_watermark is None:
            continue
        # Up to 2.3, a truncation could leave the high watermark above the end of the log.
        end = event.end_offset if event.kind == MessageKind.SHRINK else event.offset
        reached = event.high_watermark if end is None else min(event.high_watermark, end)
        if event.kind == MessageKind.SHRINK:
            if each.role == MessageKind.LEADER and each.epoch is not None and each.broker not in clocks_back:
                yield _Shown(reached, each.epoch + 1, each)
            continue
        assert event.leader_epoch is not None
        before = _reached_before(each)
        if before is not None:
            yield _Shown(reached, before, each)
        elif each.before is not None and each.before < event.leader_epoch and each.broker not in clocks_back:
            # Lines between this role and the previous role may be missing. It is enough evidence if the broker later
            # truncates its log below `reached`.
            if life.cut_below(each, reached) is not None:
                yield _Shown(reached, event.leader_epoch, each)
        else:
            yield _Shown(reached, event.leader_epoch + 1, each)


def _reached_before(role: Placed) -> int | None:
    """Return the leader epoch of a new leader or follower, to limit the time of the high watermark in its line.

    The high watermark was reached before this epoch. Returns None unless the line also names a lower previous epoch.
    From 3.6 to 3.9, followers in KRaft print the new epoch as the previous epoch (KAFKA-19776), so the function returns
    None for their lines.
    """
    epoch, previous = role.event.leader_epoch, role.event.previous_epoch
    return epoch if epoch is not None and previous is not None and 0 <= previous < epoch else None


def _cut_to(life: Life, placed: Placed, below: int) -> list[Placed]:
    """Return the next truncation below an offset by the broker of `placed`, as a list of at most one line."""
    cut = life.cut_below(placed, below)
    return [] if cut is None else [cut]


# re-elected-leader


def _re_elected_leader(life: Life) -> Iterator[PartitionFinding]:
    """Find leaders that were elected again, and that did not learn of an epoch between their two elections.

    The leader's new epoch is at least two higher than the epoch that it led before. Between the two epochs, a member of
    its ISR truncated its own log below the end of the leader's log (docs/findings/re-elected-leader.md).
    """
    for epoch, leaders in life.reigns.items():
        for leader in leaders:
            led = _led_before(life, leader)
            if led is None or not are_of_one_life(life, led, leader):
                continue
            cut = _cut_between(life, leader, led.epoch or 0)
            if cut is None:
                continue
            start, (truncation, followed) = start_of(leader.event), cut
            later = next((each for e, each in life.reigns.items() if e > epoch), None)
            if later is None:
                yield _danger(life, leader, [led, followed, truncation, leader], truncation.event.offset or 0)
                continue
            successor = later[0]
            if start_of(successor.event) >= start:
                yield _danger(
                    life, leader, [led, followed, truncation, leader, successor], truncation.event.offset or 0
                )
                continue
            yield finding_of(
                life,
                What.RE_ELECTED_LEADER,
                (start_of(successor.event), start - 1),
                epoch,
                f"Broker {leader.broker} led epoch {led.epoch}, and then epoch {epoch} from offset {start:,}, without"
                f" having learned of the epochs in between. Broker {truncation.broker} truncated its log to"
                f" {truncation.event.offset:,} in the meantime, and the leader still counted the truncated records."
                f" Broker {successor.broker} leads epoch {successor.event.leader_epoch} from"
                f" {start_of(successor.event):,}. The records in between may have been acknowledged and read, and they"
                " are gone.",
                [led, followed, truncation, leader, successor, *_cut_to(life, leader, start)],
            )


def _danger(life: Life, leader: Placed, evidence: list[Placed], cut: int) -> PartitionFinding:
    return finding_of(
        life,
        What.RE_ELECTED_LEADER,
        (cut, start_of(leader.event) - 1),
        leader.event.leader_epoch,
        f"Broker {leader.broker} was elected again without having learned of the epoch in between, and counted records"
        " that a follower had truncated. No line shows a loss.",
        evidence,
        passed=True,
    )


def _led_before(life: Life, leader: Placed) -> Placed | None:
    """Return the line that shows that a leader already led an earlier epoch, or None.

    The earlier epoch must be at least two lower than the new epoch. The leader must have had no role in between, and
    its new line must name the earlier epoch as the previous epoch.
    """
    now, previous = leader.event.leader_epoch, leader.event.previous_epoch
    if now is None or previous is None or not 0 <= previous <= now - 2:
        return None
    if leader.event.previous_leader not in (None, leader.broker):
        return None
    roles = (e for e in life.earlier(leader) if e.event.kind in (*ROLES, MessageKind.TOLD))
    others = (e for e in roles if e.epoch != now)  # skip other lines about the same election
    if next((e.epoch, e.role) for e in chain(others, [leader])) != (previous, MessageKind.LEADER):
        return None
    of_epoch = takewhile(lambda e: e.epoch in (previous, now), life.earlier(leader))
    return next((e for e in of_epoch if e.event.kind == MessageKind.LEADER and e.epoch == previous), None)


def _cut_between(life: Life, leader: Placed, led: int) -> tuple[Placed, Placed] | None:
    """Return a truncation by an ISR member below the end of the leader's log, and the line with the member's role.

    The truncation is in an epoch of another leader, between the epoch `led` and the epoch of `leader`. Returns None if
    there is no truncation of this kind.
    """
    isr, start, epoch = leader.event.isr, start_of(leader.event), leader.event.leader_epoch
    assert epoch is not None
    for broker, events in life.brokers.items():
        if broker == leader.broker or (isr is not None and broker not in isr):
            continue
        followed: Placed | None = None
        for each in events:
            if each.event.kind in (MessageKind.FOLLOWER, MessageKind.TOLD):
                between = each.epoch is not None and led < each.epoch < epoch and each.event.leader != leader.broker
                followed = each if between else None
            elif (
                followed is not None and each.event.kind == MessageKind.TRUNCATION and (each.event.offset or 0) < start
            ):
                return each, followed
    return None


# unclean-election


def _unclean_election(life: Life, newest: int | None) -> Iterator[PartitionFinding]:
    """Find elections that a controller calls unclean, or whose new leader was not in the last known ISR.

    Since 4.0 a leader may come from the eligible leader replicas (KIP-966), which no line shows. So for these releases,
    only the controller's own line counts. If this line shows that the last known leader was elected again after an
    unclean shutdown, the finding is a danger without a loss.
    """
    said: dict[tuple[int | None, int | None], Placed] = {}
    for each in life.of(MessageKind.UNCLEAN):
        said.setdefault((each.event.leader_epoch, each.event.leader), each)
    for (epoch, leader), each in said.items():
        of_epoch = [] if epoch is None else life.reigns.get(epoch, [])
        told = f"The controller elected broker {leader}, which was not in the ISR."
        was_last = f"lastKnownElr: [{leader}]" in each.event.text
        if was_last:
            told += " It was the last leader that is known, and no line shows that anything was lost."
        yield finding_of(life, What.UNCLEAN_ELECTION, None, epoch, told, [each, *of_epoch], passed=was_last)
    for before, after in [*_consecutive(life, newest), *_after_nobody(life)] if life.is_sure else []:
        epoch, leader = after.event.leader_epoch, _elected(after)
        if (epoch, leader) in said or (None, leader) in said:
            continue
        said[epoch, leader] = after
        isr = ",".join(map(str, before.event.isr or ()))
        told = f"Broker {leader} leads epoch {epoch}; the ISR just before was {isr}, and it was not in it."
        of_epoch = [each for each in life.reigns.get(epoch or 0, []) if each is not after]
        yield finding_of(life, What.UNCLEAN_ELECTION, None, epoch, told, [before, after, *of_epoch])


def _consecutive(life: Life, newest: int | None) -> Iterator[tuple[Placed, Placed]]:
    """Yield pairs of lines with consecutive partition epochs if the ISR of the first lacks the leader of the second.

    Yields nothing for brokers that may be of 4.0 or later, where a leader need not come from the ISR (KIP-966).
    """
    by_zookeeper = any(True for _ in life.of(MessageKind.STATE, MessageKind.TOLD))
    if not by_zookeeper and (newest is None or newest >= _FIRST_WITHOUT_ZOOKEEPER):
        return
    known: dict[int, Placed] = {}
    for each in life.of(MessageKind.LEADER, MessageKind.STATE, MessageKind.TOLD, MessageKind.ISR):
        if each.event.partition_epoch is not None and each.event.isr is not None:
            known.setdefault(each.event.partition_epoch, each)
    for number, after in sorted(known.items()):
        before = known.get(number - 1)
        if before is not None and after.event.kind != MessageKind.ISR and _is_outside(before, after):
            yield before, after


def _after_nobody(life: Life) -> Iterator[tuple[Placed, Placed]]:
    """Yield pairs of lines with consecutive leader epochs: first no leader, then a leader that is not in the ISR.

    Nothing changes the ISR while there is no leader. Only ZooKeeper controllers and their brokers write these lines.
    """
    states = [each for each in life.of(MessageKind.STATE, MessageKind.TOLD) if each.event.leader_epoch is not None]
    nobody = {each.event.leader_epoch: each for each in states if each.event.leader == NOBODY}
    for after in states:
        before = nobody.get((after.event.leader_epoch or 0) - 1)
        if before is not None and _is_outside(before, after):
            yield before, after


def _is_outside(before: Placed, after: Placed) -> bool:
    """Return whether the leader of `after` was not in the ISR of `before`. False if that ISR is unknown or empty."""
    leader = _elected(after)
    return bool(before.event.isr) and leader not in (None, NOBODY) and leader not in (before.event.isr or ())


def _elected(state: Placed) -> int | None:
    return state.broker if state.event.kind == MessageKind.LEADER else state.event.leader


# diverged


def _diverged(life: Life) -> Iterator[PartitionFinding]:
    """Find two leaders of one epoch. Skips epoch 0, because a topic that is created again begins with epoch 0."""
    for epoch, leaders in life.reigns.items():
        if epoch > 0 and len(leaders) > 1 and all(are_of_one_life(life, leaders[0], other) for other in leaders[1:]):
            names = " and ".join(str(each.broker) for each in leaders)
            told = f"Brokers {names} both say that they lead epoch {epoch}."
            yield finding_of(life, What.DIVERGED, None, epoch, told, leaders)
