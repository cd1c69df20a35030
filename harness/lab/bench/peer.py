"""A second implementation of the design `kip-320` in plain Python, for a comparison of speed.

The implementation has no disk faults, checks all properties after every event, and shares no code with the model. A
test compares the results of both on the same schedules, so this implementation can't be fast by doing less work.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

VERBS = {
    "produce": 4, "fetch": 16, "receive": 16, "drop": 1, "crash": 1, "restart": 3, "notify": 8,
    "catch_up": 1, "elect": 4, "expire": 1, "shrink": 2, "expand": 4,
}  # fmt: skip
MOST_RECORDS = 15
MOST_EPOCHS = 14
SCHEDULE = 300  # events drawn for one schedule


@dataclass(frozen=True, slots=True)
class PeerRecord:
    """A record: its number, and the leader epoch of its append."""

    number: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Decision:
    """A leader-and-ISR update of the controller. Its leader epoch is its position in `PeerPartition.decisions`."""

    leader: int | None
    isr: frozenset[int]


@dataclass(frozen=True, slots=True)
class Answer:
    """A response in flight: records and a high watermark, or the end offset of an epoch."""

    records: tuple[PeerRecord, ...]
    offset: int
    epoch: int | None = None
    ends_epoch: bool = False
    out_of_range: bool = False


@dataclass(slots=True, kw_only=True)
class PeerReplica:
    """The state of a replica: first the fields on its disk, then the fields that a crash clears."""

    log: list[PeerRecord] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=list)
    high_watermark: int = 0
    up: bool = True
    epoch: int | None = 0
    leader: int | None = 0
    truncating: bool = False
    was_cut: bool = False  # the replica has truncated its log after a response, and asks for another epoch's end
    answer: Answer | None = None
    isr: frozenset[int] = frozenset()
    epoch_start: int = 0
    led_from: int = 0  # first offset that the replica appended in its uninterrupted leadership
    positions: dict[int, int] = field(default_factory=dict)

    def forget_leadership(self) -> None:
        """Clear the state that the replica has as a leader."""
        self.isr, self.epoch_start, self.led_from, self.positions = frozenset(), 0, 0, {}

    def truncate(self, end: int) -> None:
        """Remove the records and epochs from offset `end` on, and lower the high watermark to the new log end."""
        del self.log[end:]
        while self.epochs and self.epochs[-1][1] >= len(self.log):
            self.epochs.pop()
        self.high_watermark = min(self.high_watermark, len(self.log))

    def note_epoch(self, epoch: int, start: int) -> None:
        """Add an entry to the leader epoch cache, and remove entries that contradict it."""
        if self.epochs and self.epochs[-1][0] == epoch and start >= self.epochs[-1][1]:
            return
        while self.epochs and (self.epochs[-1][0] >= epoch or self.epochs[-1][1] >= start):
            self.epochs.pop()
        self.epochs.append((epoch, start))

    def end_of(self, epoch: int | None) -> tuple[int | None, int]:
        """Return the largest cached epoch that is not above `epoch`, and the end offset of that cached epoch.

        The result is (None, -1) if `epoch` is None, if the cache is empty, or if `epoch` is above all cached epochs. If
        `epoch` is below all cached epochs, the result is `epoch` and the start offset of the first cached epoch.
        """
        if epoch is None or not self.epochs or epoch > self.epochs[-1][0]:
            return None, -1
        end = len(self.log)
        for noted, start in reversed(self.epochs):
            if noted <= epoch:
                return noted, end
            end = start
        return epoch, end


class PeerPartition:
    """A partition, its controller, and the records that clients have read or got acknowledged.

    Each event is a method, which returns False if the event is not enabled.
    """

    def __init__(self, replicas: int) -> None:
        everyone = frozenset(range(replicas))
        self.replicas = [PeerReplica() for _ in range(replicas)]
        self.replicas[0].isr = everyone
        self.replicas[0].epochs = [(0, 0)]
        self.decisions = [Decision(0, everyone)]
        self.produced = 0
        self.offsets: dict[int, int] = {}
        self.exposed: set[int] = set()
        self.acked: set[int] = set()

    @property
    def controller_epoch(self) -> int:
        """Return the leader epoch of the controller's latest leader-and-ISR update."""
        return len(self.decisions) - 1

    def leads(self, r: int) -> bool:
        """Return whether a replica believes that it leads."""
        return self.replicas[r].leader == r

    def true_leader(self) -> int | None:
        """Return the leader in the controller's latest update. None if it is down or has not learned the update."""
        leader = self.decisions[-1].leader
        if leader is not None and self.replicas[leader].up and self.replicas[leader].epoch == self.controller_epoch:
            return leader
        return None

    def advance(self, r: int) -> None:
        """Raise a leader's high watermark to the lowest log end offset of the ISR's members that it knows."""
        leader = self.replicas[r]
        lowest = min([len(leader.log), *(leader.positions.get(f, 0) for f in leader.isr if f != r)])
        if lowest > leader.high_watermark:
            self.promise(leader, leader.high_watermark, lowest)
            leader.high_watermark = lowest

    def promise(self, leader: PeerReplica, start: int, end: int) -> None:
        """Note that consumers can read offsets `start` to `end` - 1 of a leader's log.

        The records at offset `leader.led_from` and above count as acknowledged too.
        """
        for offset, record in enumerate(leader.log[start:end], start):
            self.exposed.add(record.number)
            if offset >= leader.led_from:
                self.acked.add(record.number)

    def produce(self, r: int) -> bool:
        """Append a new record to the leader's log."""
        leader = self.replicas[r]
        if not self.leads(r) or leader.epoch is None or self.produced >= MOST_RECORDS or not leader.isr:
            return False
        self.offsets[self.produced] = len(leader.log)
        leader.note_epoch(leader.epoch, len(leader.log))
        leader.log.append(PeerRecord(self.produced, leader.epoch))
        self.produced += 1
        self.advance(r)
        return True

    def fetch(self, r: int) -> bool:
        """Let a follower request records from its leader or, while it truncates, the end offset of its last epoch."""
        follower = self.replicas[r]
        if follower.leader in (None, r) or follower.answer is not None:
            return False
        leader = self.replicas[follower.leader]
        if not self.leads(follower.leader) or leader.epoch != follower.epoch:
            return False
        start = len(follower.log)
        if follower.truncating:
            epoch, end = leader.end_of(follower.epochs[-1][0] if follower.epochs else None)
            follower.answer = Answer((), end, epoch, ends_epoch=True)
        elif start > len(leader.log):
            follower.answer = Answer((), len(leader.log), out_of_range=True)
        else:
            records, high_watermark = tuple(leader.log[start : start + 1]), leader.high_watermark
            leader.positions[r] = start
            self.advance(follower.leader)
            # A fetch without records waits at the leader, which reads the high watermark again when the wait ends.
            follower.answer = Answer(records, high_watermark if records else leader.high_watermark)
        return True

    def receive(self, r: int) -> bool:
        """Let a follower handle the response in flight."""
        follower = self.replicas[r]
        answer = follower.answer
        if answer is None:
            return False
        if answer.ends_epoch:
            self.truncate(follower, answer)
        elif answer.out_of_range:
            follower.truncate(answer.offset)
        else:
            for record in answer.records:
                follower.note_epoch(record.epoch, len(follower.log))
                follower.log.append(record)
            follower.high_watermark = min(len(follower.log), answer.offset)
        follower.answer = None
        return True

    def truncate(self, follower: PeerReplica, answer: Answer) -> None:
        """Truncate a follower's log after the leader's response about the end of an epoch.

        If the follower's cache lacks this epoch but has older epochs, the follower truncates to the end of the latest
        older epoch, and asks the leader again (KIP-279).
        """
        was_cut, follower.truncating, follower.was_cut = follower.was_cut, False, False
        if answer.epoch is None:
            follower.truncate(len(follower.log) if was_cut else follower.high_watermark)
            return
        epoch, end = follower.end_of(answer.epoch)
        if epoch == answer.epoch:
            follower.truncate(min(end, answer.offset))
        elif epoch is None:
            follower.truncate(answer.offset)
        else:
            follower.truncate(end)
            follower.truncating = follower.was_cut = True

    def drop(self, r: int) -> bool:
        """Lose the response in flight to a follower."""
        lost = self.replicas[r].answer is not None
        self.replicas[r].answer = None
        return lost

    def crash(self, r: int) -> bool:
        """Kill a replica's process."""
        replica = self.replicas[r]
        if not replica.up:
            return False
        replica.up = replica.truncating = replica.was_cut = False
        replica.epoch = replica.leader = replica.answer = None
        replica.forget_leadership()
        return True

    def restart(self, r: int) -> bool:
        """Start a replica's process again.

        If the controller has not noticed the failure of the old process, the controller handles the failure first.
        """
        if self.replicas[r].up:
            return False
        if self.fence(r) is not None:
            if self.controller_epoch >= MOST_EPOCHS:
                return False
            self.expire(r)
        self.start(r)
        return True

    def start(self, r: int) -> None:
        """Start a replica from its disk. The replica can now learn only the latest of the controller's updates."""
        replica = self.replicas[r]
        replica.up, replica.epoch = True, self.controller_epoch - 1
        replica.truncate(len(replica.log))

    def notify(self, r: int) -> bool:
        """Send a replica the first leader-and-ISR update that it has not learned."""
        return self.learn(r, min(self.news(r), default=None))

    def catch_up(self, r: int) -> bool:
        """Send a replica the latest leader-and-ISR update. The replica skips earlier updates that it does not know."""
        epoch = self.replicas[r].epoch
        if epoch is None or self.controller_epoch - epoch < 2:
            return False
        return self.learn(r, max(self.news(r), default=None))

    def news(self, r: int) -> list[int]:
        """Return the leader epochs of the controller's updates that a replica has not learned.

        Updates without a leader are left out.
        """
        known = self.replicas[r].epoch
        if known is None:
            return []
        return [
            epoch for epoch in range(known + 1, self.controller_epoch + 1) if self.decisions[epoch].leader is not None
        ]

    def learn(self, r: int, epoch: int | None) -> bool:
        """Let a replica learn the update of an epoch, and lead or follow from then on. False if `epoch` is None."""
        if epoch is None:
            return False
        replica, decision = self.replicas[r], self.decisions[epoch]
        led_before = self.leads(r)
        replica.answer, replica.was_cut = None, False
        replica.epoch, replica.leader = epoch, decision.leader
        replica.truncating = decision.leader != r and bool(replica.epochs)
        if decision.leader == r:
            self.lead(r, epoch, led_before)
        else:
            replica.forget_leadership()
        return True

    def lead(self, r: int, epoch: int, led_before: bool) -> None:
        """Let a replica become the leader of an epoch. With `led_before`, its waiting producers continue to wait."""
        leader = self.replicas[r]
        led_from = leader.led_from if led_before else len(leader.log)
        leader.isr, leader.positions = self.decisions[epoch].isr, {}
        leader.epoch_start, leader.led_from = len(leader.log), led_from
        leader.note_epoch(epoch, len(leader.log))
        self.promise(leader, 0, leader.high_watermark)
        self.advance(r)

    def elect(self, r: int) -> bool:
        """Let the controller elect a member of the ISR.

        If no leader is up, the controller also removes dead members from the ISR.
        """
        decision = self.decisions[-1]
        if self.controller_epoch >= MOST_EPOCHS or not self.replicas[r].up or r == decision.leader:
            return False
        if r not in decision.isr:
            return False
        fails_over = decision.leader is None or not self.replicas[decision.leader].up
        self.decisions.append(Decision(r, frozenset(filter(self.is_up, decision.isr)) if fails_over else decision.isr))
        return True

    def is_up(self, r: int) -> bool:
        """Return whether a replica's process runs."""
        return self.replicas[r].up

    def expire(self, r: int) -> bool:
        """Let a replica's session with the controller expire."""
        decision = self.fence(r)
        if decision is None or self.controller_epoch >= MOST_EPOCHS:
            return False
        self.decisions.append(decision)
        return True

    def fence(self, r: int) -> Decision | None:
        """Return the update that removes a replica from leadership and the ISR, or None if it would change nothing."""
        now = self.decisions[-1]
        without = Decision(None if now.leader == r else now.leader, (now.isr - {r}) or now.isr)
        return None if without == now else without

    def shrink(self, r: int) -> bool:
        """Let the leader (see `true_leader`) remove a lagging follower from the ISR."""
        leader = self.true_leader()
        if leader in (None, r) or r not in self.replicas[leader].isr:
            return False
        if self.replicas[leader].positions.get(r, 0) >= len(self.replicas[leader].log):
            return False
        self.change_isr(leader, self.replicas[leader].isr - {r})
        self.advance(leader)
        return True

    def expand(self, r: int) -> bool:
        """Let the leader (see `true_leader`) add a caught-up follower to the ISR."""
        number = self.true_leader()
        if number in (None, r) or r in self.replicas[number].isr:
            return False
        leader = self.replicas[number]
        if leader.positions.get(r, -1) < max(leader.high_watermark, leader.epoch_start):
            return False
        self.change_isr(number, leader.isr | {r})
        return True

    def change_isr(self, leader: int, isr: frozenset[int]) -> None:
        """Change the ISR in the leader's state and, at the same time, in the controller's latest update."""
        self.replicas[leader].isr = isr
        self.decisions[-1] = Decision(self.decisions[-1].leader, isr)

    def broken(self) -> set[str]:
        """Return the names of the properties that the current state breaks, without `convergence` (see `converges`)."""
        broken = set()
        leader = self.true_leader()
        if leader is not None:
            log = self.replicas[leader].log
            if self.is_lost(self.exposed, log):
                broken.add("no-committed-loss")
            if self.is_lost(self.acked, log):
                broken.add("no-acked-loss")
        for number, a in enumerate(self.replicas):
            if a.high_watermark > len(a.log):
                broken.add("hw-within-log")
            for b in self.replicas[:number]:
                both = min(a.high_watermark, b.high_watermark)
                if a.log[:both] != b.log[:both]:
                    broken.add("no-divergence")
                if a.log != b.log and any(
                    one.epoch == other.epoch and one.number != other.number
                    for one, other in zip(a.log, b.log, strict=False)
                ):
                    broken.add("log-matching")
            if self.leads(number):
                committed = a.log[: a.high_watermark]
                members = [self.replicas[m] for m in self.decisions[-1].isr if self.is_up(m)]
                if any(member.log[: a.high_watermark] != committed for member in members):
                    broken.add("isr-complete")
        return broken

    def is_lost(self, promised: set[int], log: list[PeerRecord]) -> bool:
        """Return whether one of the records in `promised` is missing from its offset in the log."""
        for number in promised:
            offset = self.offsets[number]
            if offset >= len(log) or log[offset].number != number:
                return True
        return False

    def converges(self) -> bool:
        """Return whether all logs and high watermarks agree after all faults have stopped.

        The method itself ends the faults and lets all replicas replicate. So it must be the last call on the object.
        """
        everyone = range(len(self.replicas))
        self.fence_the_dead()
        for r in everyone:
            if not self.is_up(r):
                self.start(r)
        if self.decisions[-1].leader is None:
            self.decisions.append(Decision(min(self.decisions[-1].isr), self.decisions[-1].isr))
        for r in everyone:
            while self.notify(r):
                pass
        for _ in range(3 * (MOST_EPOCHS + 2)):
            if self.agrees():
                return True
            for r in everyone:
                self.receive(r)
                self.fetch(r)
                self.receive(r)
        return self.agrees()

    def fence_the_dead(self) -> None:
        """Remove all dead replicas from leadership and the ISR, in one leader-and-ISR update.

        The update is possible even if the leader epoch has reached the bound MOST_EPOCHS.
        """
        before = len(self.decisions)
        for r in range(len(self.replicas)):
            without = self.fence(r)
            if not self.is_up(r) and without is not None:
                self.decisions[before:] = [without]

    def agrees(self) -> bool:
        """Return whether all logs and high watermarks are equal and no replica is still truncating."""
        first = self.replicas[0]
        return not any(replica.truncating for replica in self.replicas) and all(
            replica.log == first.log and replica.high_watermark == first.high_watermark for replica in self.replicas[1:]
        )


def run(partition: PeerPartition, schedule: Iterable[tuple[str, int]]) -> tuple[int, set[str]]:
    """Run a schedule of pairs (verb, replica). Returns the number of applied events, and the properties that broke."""
    applied, broken = 0, set()
    for verb, replica in schedule:
        if getattr(partition, verb)(replica):
            applied += 1
            broken |= partition.broken()
    return applied, broken


def drive(seed: int, schedules: int, replicas: int) -> int:
    """Run random schedules with `replicas` replicas, and check all properties. Returns the number of applied events.

    Raises AssertionError if a property breaks.
    """
    draw = random.Random(seed)
    alphabet = [(verb, replica) for verb in VERBS for replica in range(replicas)]
    weights = [VERBS[verb] for verb, _ in alphabet]
    total = 0
    for _ in range(schedules):
        partition = PeerPartition(replicas)
        applied, broken = run(partition, draw.choices(alphabet, weights, k=SCHEDULE))
        assert not broken
        assert partition.converges()
        total += applied
    return total
