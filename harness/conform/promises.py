"""Promises only: the properties of the model, evaluated on what a subject shows.

For implementations that rightly differ inside. Each property is judged where the fields that it speaks of are shown;
what is shown is all there is, so nothing is remembered but the promises made to clients.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, cast

from epochfuzz.harness.conform.fault import Fault, Kind
from epochfuzz.harness.conform.judge import is_beyond_bounds
from epochfuzz.harness.conform.wire import Observation
from epochfuzz.model import properties
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import REPLICA_NAMES, Verb, replica_of, verb_of

Log = list[tuple[str, int]]


class Promises:
    """Remembers what clients saw and were told, and holds every observation against it."""

    goes_on = True

    def __init__(self, settings: Configuration) -> None:
        self._settings = settings
        self._exposed: set[tuple[str, int]] = set()  # record and offset
        self._acked: set[tuple[str, int]] = set()
        self._broken: set[str] = set(properties.permitted(settings))
        self._produced = 0
        self._epoch = 0
        self._refused: set[int] = set()  # since an event was applied last

    def advance(self, event: int) -> bool:
        """Whether to send the event: not if it was refused, and nothing has happened since."""
        return event not in self._refused and not is_beyond_bounds(event, self._produced, self._epoch, self._settings)

    def judge(self, event: int, applied: bool, observation: Observation) -> list[Fault]:
        """The properties that are newly broken, the most severe first."""
        if not applied:
            self._refused.add(event)
        else:
            self._refused.clear()
            self._produced += verb_of(event) is Verb.PRODUCE
            self._epoch += verb_of(event) in (Verb.ELECT, Verb.EXPIRE)
        seen = Seen(observation)
        self._remember(seen)
        if applied and verb_of(event) is Verb.PRODUCE and self._settings.acks == "1":
            self._acked |= seen.last_record(REPLICA_NAMES[replica_of(event)])
        return [self._fault(name, what) for name, what in self._breaks(seen) if name not in self._broken]

    def not_converged(self, observation: Observation) -> list[Fault]:
        """convergence, judged when a subject has been healed."""
        what = next(Seen(observation).unequal(), None)
        return [self._fault("convergence", what)] if what else []

    def _fault(self, name: str, what: str) -> Fault:
        self._broken.add(name)
        return Fault(Kind.PROMISE, name, "holds", what)

    def _remember(self, seen: "Seen") -> None:
        for leader in seen.presumed_leaders():
            readable = list(enumerate(seen.log(leader)[: seen.hw(leader)]))
            self._exposed |= {(record, offset) for offset, (record, _) in readable}
            if self._settings.acks == "all":
                # A leader answers for what it appended in its own epoch only.
                own = seen.of(leader, "leader_epoch")
                self._acked |= {(record, offset) for offset, (record, epoch) in readable if epoch == own}

    def _breaks(self, seen: "Seen") -> Iterator[tuple[str, str]]:
        for name, promised in (("no-committed-loss", self._exposed), ("no-acked-loss", self._acked)):
            yield from ((name, what) for what in seen.lost(promised))
        yield from (("no-divergence", what) for what in seen.diverged())
        yield from (("log-matching", what) for what in seen.mismatched())
        yield from (("hw-within-log", what) for what in seen.beyond_log())
        yield from (("isr-complete", what) for what in seen.missing_in_isr())


class Seen:
    """One observation, asked about. What it leaves out breaks nothing."""

    def __init__(self, observation: Observation) -> None:
        self._replicas = cast(dict[str, dict[str, Any]], observation.get("replicas", {}))
        self._controller = cast(dict[str, Any], observation.get("controller", {}))

    def of(self, name: str, field: str) -> Any:
        """A field of a replica, None where it is left out."""
        return self._replicas.get(name, {}).get(field)

    def log(self, name: str) -> Log:
        """A replica's log, empty where it is left out."""
        return self.of(name, "log") or []

    def hw(self, name: str) -> int:
        """A replica's high watermark, 0 where it is left out."""
        return max(0, self.of(name, "hw") or 0)

    def presumed_leaders(self) -> Iterator[str]:
        """The replicas that are up and take themselves for the leader."""
        for name in self._replicas:
            if self.of(name, "up") is not False and self.of(name, "leader") == name:
                yield name

    def true_leader(self) -> str | None:
        """The one that the controller names, up and aware of the controller's epoch."""
        for leader in self.presumed_leaders():
            if leader == self._controller.get("leader"):
                aware = self.of(leader, "leader_epoch") == self._controller.get("epoch")
                return leader if aware else None
        return None

    def last_record(self, name: str) -> set[tuple[str, int]]:
        """The last record of a replica and its offset, in a set; an empty one for an empty log."""
        return {(record, offset) for offset, (record, _) in list(enumerate(self.log(name)))[-1:]}

    def lost(self, promised: set[tuple[str, int]]) -> Iterator[str]:
        """Promised records that do not stand where they belong on the true leader."""
        leader = self.true_leader()
        if leader is None or self.of(leader, "log") is None:
            return
        standing = {(record, offset) for offset, (record, _) in enumerate(self.log(leader))}
        for record, offset in sorted(promised - standing, key=lambda place: (place[1], place[0])):
            yield f"{record} is not at offset {offset} of the leader {leader}"

    def diverged(self) -> Iterator[str]:
        """Other records at one offset below both high watermarks."""
        for a, b, offset in self._shared_offsets():
            if offset < min(self.hw(a), self.hw(b)) and self.log(a)[offset][0] != self.log(b)[offset][0]:
                yield f"offset {offset} is {self.log(a)[offset][0]} on {a} and {self.log(b)[offset][0]} on {b}"

    def mismatched(self) -> Iterator[str]:
        """Other records at one offset, of the same epoch."""
        for a, b, offset in self._shared_offsets():
            (record_a, epoch_a), (record_b, epoch_b) = self.log(a)[offset], self.log(b)[offset]
            if epoch_a == epoch_b and record_a != record_b:
                yield f"offset {offset}, epoch {epoch_a}, is {record_a} on {a} and {record_b} on {b}"

    def beyond_log(self) -> Iterator[str]:
        """High watermarks beyond the log end offset."""
        for name in self._replicas:
            hw, leo = self.of(name, "hw"), self._leo(name)
            if hw is not None and leo is not None and hw > leo:
                yield f"the high watermark of {name} is {hw}, its log end offset {leo}"

    def missing_in_isr(self) -> Iterator[str]:
        """Records that a presumed leader lets consumers read and that a member of the ISR does not have."""
        for leader in self.presumed_leaders():
            for member in self._controller.get("isr", []):
                if self.of(member, "log") is None:
                    continue
                held = [record for record, _ in self.log(member)]
                for offset, (record, _) in enumerate(self.log(leader)[: self.hw(leader)]):
                    if held[offset : offset + 1] != [record]:
                        yield f"{record}, readable on {leader}, is not at offset {offset} of {member}, which is in sync"

    def unequal(self) -> Iterator[str]:
        """Logs and high watermarks that differ."""
        for a, b in combinations(self._replicas, 2):
            for field in ("leo", "hw", "log"):
                if None not in (self.of(a, field), self.of(b, field)) and self.of(a, field) != self.of(b, field):
                    yield f"after healing, {field} is {self.of(a, field)} on {a} and {self.of(b, field)} on {b}"

    def _leo(self, name: str) -> int | None:
        log = self.of(name, "log")
        return self.of(name, "leo") if log is None else len(log)

    def _shared_offsets(self) -> Iterator[tuple[str, str, int]]:
        for a, b in combinations(self._replicas, 2):
            for offset in range(min(len(self.log(a)), len(self.log(b)))):
                yield a, b, offset
