"""Convert observations of a system under test into a state of the model, to check the model's properties on it."""

from typing import Any, cast

from epochfuzz.harness.conform.protocol.discrepancy import DiscrepancyKind, SubjectFailed
from epochfuzz.harness.conform.protocol.wire import Observation
from epochfuzz.model.kafka.contract import healing, properties
from epochfuzz.model.kafka.history import promises
from epochfuzz.model.kafka.storage import log_start, transactions
from epochfuzz.model.kafka.vocabulary.configuration import MAX_RECORDS, Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, Verb, verb_of
from epochfuzz.model.kafka.vocabulary.in_force import has_retention, registers_in_two_steps
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, Protocol
from epochfuzz.model.kafka.vocabulary.state import DELETED, NONE, Marker, Partition, initial

_PLAINEST = next(iter(GENERATIONS.values()))
_UNSEEN = -1
_RECORDS = {f"m{number}": number for number in range(MAX_RECORDS)}
_MARKERS = {marker.name: int(marker) for marker in Marker}


class SeenPartition:
    """The observed state of the partition under test, as a model state.

    The state also remembers the records that clients could read or that were acknowledged. If an
    observation lacks a field, the state gets a value that breaks no property. The properties only check whether two
    epochs are equal, so the state has epochs of its own. Epochs of records are numbered in the order of their first
    appearance. `known_epoch` of a replica is 0 if the replica shows the controller's current epoch, and otherwise NONE.
    """

    def __init__(self, settings: Configuration, protocol: Protocol = _PLAINEST) -> None:
        self.state: Partition = initial(_PLAINEST, settings)
        self.state.eligible_leaders = protocol.numbers()["eligible_leaders"]
        self._registers_in_two_steps = registers_in_two_steps(protocol.constants)
        self._controller: dict[str, Any] = {}
        self._record_epochs: dict[int, int] = {}
        self._controller_epoch: int | None = None
        self._isr_by_epoch: dict[int | None, int] = {}
        self._offsets = [_UNSEEN] * MAX_RECORDS  # for each record, the offset at which it was first seen
        self._acked: int | None = None  # the set of acknowledged records, if the observation has it
        self._complete: list[int] = []  # replicas that show a log and a high watermark

    def show(self, observation: Observation, event: int | None = None) -> None:
        """Update the state from an observation, and remember the records that clients can read.

        `event` is the applied event, or None if the adapter applied no event. Some guarantees tolerate only a limited
        number of failures, so the state counts such failures. Raises SubjectFailed if the observation is impossible.
        """
        ends_before, controller_before = [*self.state.leo], self._controller
        shown = cast(dict[str, dict[str, Any]], observation.get("replicas", {}))
        replicas = [shown.get(name, {}) for name in REPLICA_NAMES[: self.state.replicas]]
        self._complete = [r for r, replica in enumerate(replicas) if {"log", "hw"} <= replica.keys()]
        self._controller = observation.get("controller", {})
        self._show_controller(self._controller, replicas)
        self._show_producers(observation.get("producers", {}))
        for r, replica in enumerate(replicas):
            self._show_replica(r, replica)
        for r, replica in enumerate(replicas):
            self._show_high_watermark(r, replica)
        self._show_consumer(observation.get("consumer", {}))
        if event is not None:
            self._note_failure(event, ends_before, controller_before)

    def _note_failure(self, event: int, ends_before: list[int], controller_before: dict[str, Any]) -> None:
        """Count a failure that KIP-966 tolerates only a limited number of times (model/kafka/history/promises.py).

        Such a failure is a power loss that loses records, or an election with an empty ISR and ELR.
        """
        verb, r = verb_of(event), replica_of(event)
        if verb is Verb.POWER_LOSS and self.state.leo[r] < ends_before[r]:
            promises.note_lossy_failure(self.state)
        elif verb is Verb.ELECT and controller_before.get("isr") == [] and not controller_before.get("elr"):
            promises.note_unclean_recovery(self.state)

    def follow(self, event: int) -> None:
        """Update the state for an event that deletes or produces records, or that ends a transaction.

        `event` is an applied event. Call this method before `show` receives the observation after the event.
        """
        p, verb = self.state, verb_of(event)
        if verb is Verb.TRIM:
            log_start.note_deletion(p, replica_of(event))
        elif verb in (Verb.PRODUCE, Verb.DELAY):
            p.transaction_records |= 1 << p.produced
            p.produced += 1
        elif verb in (Verb.COMMIT, Verb.ABORT):
            p.committed_records |= p.transaction_records if verb is Verb.COMMIT else 0
            p.transaction_records = 0

    def broken(self) -> int:
        """Return the properties that are broken now, as bits.

        The result leaves out properties that are checked only at the end of a schedule.
        """
        return properties.broken_now(self.state)

    def has_converged(self) -> bool:
        """Return whether all replicas that show a log and a high watermark agree on both."""
        p = self.state
        for r in set(range(p.replicas)).difference(self._complete):
            for values in (p.leo, p.high_watermark, p.log_record, p.log_epoch):
                values[r] = values[self._complete[0]] if self._complete else 0
        return healing.has_converged(p)

    def _show_controller(self, controller: dict[str, Any], replicas: list[dict[str, Any]]) -> None:
        p = self.state
        leader = self._replica(controller.get("leader"))
        knows_leader = leader != NONE and "log" in replicas[leader]
        p.decided_leader[0] = leader if knows_leader else NONE
        members = {r for r in map(self._replica, controller.get("isr", [])) if r != NONE}
        p.decided_isr[0] = sum(1 << r for r in members if "log" in replicas[r])
        self._controller_epoch = controller.get("epoch")
        self._isr_by_epoch[self._controller_epoch] = sum(1 << r for r in members)

    def _show_replica(self, r: int, replica: dict[str, Any]) -> None:
        p = self.state
        entries = replica.get("log", [])
        if len(entries) > MAX_RECORDS:
            raise SubjectFailed(
                DiscrepancyKind.GARBAGE, f"a log has {len(entries)} records, more than clients have produced"
            )
        records = [self._record(name, offset) for offset, (name, _) in enumerate(entries)]
        led_before, read_before = p.known_leader[r] == r, p.high_watermark[r]
        epoch = replica.get("leader_epoch")
        # In KRaft, a process without a leader epoch may not be registered yet. Its replica leaves the ISR before that.
        is_away = self._registers_in_two_steps and "leader_epoch" in replica and epoch is None
        p.up[r] = replica.get("up") is not False and not is_away
        p.known_leader[r] = self._replica(replica.get("leader")) if p.up[r] else NONE
        is_caught_up = p.known_leader[r] != NONE and epoch is not None and epoch == self._controller_epoch
        p.known_epoch[r] = 0 if is_caught_up else NONE
        p.leo[r] = len(entries)
        p.log_start[r] = replica.get("log_start", 0)
        p.log_record[r] = sum(record << 4 * offset for offset, record in enumerate(records))
        p.log_epoch[r] = sum(self._record_epoch(epoch) << 4 * offset for offset, (_, epoch) in enumerate(entries))
        p.standing[r] = sum(
            {
                1 << record
                for i, record in enumerate(records)
                if not transactions.is_marker(p, record) and i >= p.log_start[r] and self._offsets[record] == i
            }
        )
        p.high_watermark[r] = min(max(0, replica.get("hw", 0)), p.leo[r])
        self._remember(r, epoch, read_before if led_before else NONE)

    def _remember(self, r: int, epoch: int | None, read_before: int) -> None:
        """Remember the records that consumers can read from replica r, and the records that r has acknowledged.

        `read_before` is the high watermark of r in the previous observation, or NONE if r did not lead at that time.
        """
        p = self.state
        if p.known_leader[r] != r:
            p.isr[r] = p.led_from[r] = 0
            return
        p.isr[r] = self._isr_by_epoch.get(epoch, p.decided_isr[0]) | 1 << r  # if no ISR is shown, it holds only r
        if read_before == NONE:
            p.led_from[r] = p.leo[r]
        if self._acked is None:
            promises.remember_readable(p, r, max(0, read_before))
        else:
            promises.expose(p, r, max(0, read_before))

    def _show_producers(self, producers: dict[str, Any]) -> None:
        """Add the acknowledged records that the observation shows.

        If the observation has no acknowledged records, `_remember` derives them from high watermarks.
        """
        self._acked = None
        if "acked" in producers:
            self._acked = sum({1 << _RECORDS[name] for name in producers["acked"] if name in _RECORDS})
            self.state.acked |= self._acked

    def _show_high_watermark(self, r: int, replica: dict[str, Any]) -> None:
        """Raise the high watermark of a replica beyond the end of its log, if the observation has such a value.

        Call this method after all logs are read, because other methods need a high watermark within the log.
        """
        p = self.state
        if "hw" in replica:
            end = p.leo[r] if "log" in replica else replica.get("leo", replica["hw"])
            p.high_watermark[r] += max(0, replica["hw"] - end)

    def _show_consumer(self, consumer: dict[str, Any]) -> None:
        """Set the consumer's position and delivered records.

        If a field is missing, the state shows no skipped record.
        """
        p = self.state
        is_shown = {"position", "leader_epoch", "delivered"} <= consumer.keys()
        p.position = consumer["position"] if is_shown else 0
        p.consumer_epoch = 0 if is_shown and consumer["leader_epoch"] == self._controller_epoch else NONE
        p.delivered = sum(1 << _RECORDS[name] for name in consumer.get("delivered", []) if name in _RECORDS)

    def _record(self, name: str, offset: int) -> int:
        """Return the number of a record from its name. Remember the offset where the record first appears."""
        if self.state.transactions and name in _MARKERS:
            return _MARKERS[name]
        if has_retention(self.state) and name == "DELETED":
            return DELETED
        number = _RECORDS.get(name)
        if number is None:
            raise SubjectFailed(
                DiscrepancyKind.GARBAGE, f"a log has {name!r}, which no client produced: records are m0, m1, ..."
            )
        if self._offsets[number] == _UNSEEN:
            self._offsets[number] = offset
            self.state.record_offset |= offset << 4 * number
        return number

    def _replica(self, name: str | None) -> int:
        """Return the number of a replica, or NONE for no replica and for an unknown name."""
        names = REPLICA_NAMES[: self.state.replicas]
        return names.index(name) if name is not None and name in names else NONE

    def _record_epoch(self, epoch: int) -> int:
        if len(self._record_epochs) > MAX_RECORDS and epoch not in self._record_epochs:
            raise SubjectFailed(
                DiscrepancyKind.GARBAGE, f"epoch {epoch} is one more than records can have been written in"
            )
        return self._record_epochs.setdefault(epoch, len(self._record_epochs))
