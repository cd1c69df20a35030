"""What a subject shows, as a state of the model: so the model's own properties judge it, and say what breaks them."""

from typing import Any, cast

from epochfuzz.harness.conform.fault import Kind, SubjectFailed
from epochfuzz.harness.conform.wire import Observation
from epochfuzz.model import healing, promises, properties
from epochfuzz.model.configuration import MAX_RECORDS, Configuration
from epochfuzz.model.events import REPLICA_NAMES
from epochfuzz.model.protocols import GENERATIONS
from epochfuzz.model.state import EPOCHS, NONE, Partition, initial

_UNSEEN = -1


class SeenPartition:
    """A subject's partition as far as it is seen. What is left out breaks nothing; what clients were promised stays.

    Epochs are numbered as they are met, for all that is asked of them is whether they are the same.
    """

    def __init__(self, settings: Configuration) -> None:
        self.state: Partition = initial(next(iter(GENERATIONS.values())), settings)
        self._epochs: dict[int, int] = {}
        self._offsets = [_UNSEEN] * MAX_RECORDS  # by record: where it was seen first
        self._complete: list[int] = []  # replicas that show a log and a high watermark

    def show(self, observation: Observation) -> None:
        """See what there is to be seen, and remember what clients can read. Raises SubjectFailed for what cannot be."""
        shown = cast(dict[str, dict[str, Any]], observation.get("replicas", {}))
        replicas = [shown.get(name, {}) for name in REPLICA_NAMES[: self.state.replicas]]
        self._complete = [r for r, replica in enumerate(replicas) if {"log", "hw"} <= replica.keys()]
        self._show_controller(cast(dict[str, Any], observation.get("controller", {})), replicas)
        for r, replica in enumerate(replicas):
            self._show_replica(r, replica)
        self._remember()
        for r, replica in enumerate(replicas):
            self._show_high_watermark(r, replica)

    def broken(self) -> int:
        """The set of properties that are broken now, but for those that are judged at the end."""
        return properties.broken_now(self.state)

    def has_converged(self) -> bool:
        """Whether logs and high watermarks are equal, on all replicas that show them."""
        p = self.state
        for r in set(range(p.replicas)).difference(self._complete):
            for values in (p.leo, p.high_watermark, p.log_record, p.log_epoch):
                values[r] = values[self._complete[0]] if self._complete else 0
        return healing.has_converged(p)

    def _show_controller(self, controller: dict[str, Any], replicas: list[dict[str, Any]]) -> None:
        p = self.state
        leader = self._replica(controller.get("leader"))
        knows_leader = leader != NONE and "log" in replicas[leader]
        p.controller_epoch = self._epoch(controller["epoch"]) if "epoch" in controller else 0
        p.decided_leader[p.controller_epoch] = leader if knows_leader else NONE
        members = {r for r in map(self._replica, controller.get("isr", [])) if r != NONE and "log" in replicas[r]}
        p.decided_isr[p.controller_epoch] = sum(1 << r for r in members)

    def _show_replica(self, r: int, replica: dict[str, Any]) -> None:
        p = self.state
        entries = replica.get("log", [])
        if len(entries) > MAX_RECORDS:
            raise SubjectFailed(Kind.GARBAGE, f"a log has {len(entries)} records, more than clients have produced")
        records = [self._record(name, offset) for offset, (name, _) in enumerate(entries)]
        p.up[r] = replica.get("up") is not False
        p.known_leader[r] = self._replica(replica.get("leader")) if p.up[r] else NONE
        epoch = replica.get("leader_epoch")
        p.known_epoch[r] = self._epoch(epoch) if epoch is not None else NONE
        p.isr[r] = p.decided_isr[p.controller_epoch] if p.known_leader[r] == r else 0
        p.leo[r] = len(entries)
        p.log_record[r] = sum(record << 4 * offset for offset, record in enumerate(records))
        p.log_epoch[r] = sum(self._epoch(epoch) << 4 * offset for offset, (_, epoch) in enumerate(entries))
        p.standing[r] = sum({1 << record for i, record in enumerate(records) if self._offsets[record] == i})
        p.high_watermark[r] = min(max(0, replica.get("hw", 0)), p.leo[r])

    def _remember(self) -> None:
        """Remember what consumers can read, and who is answered for it; below the end of the log, whatever is shown."""
        p = self.state
        for r in range(p.replicas):
            if p.known_leader[r] == r:
                promises.remember_readable(p, r, 0)

    def _show_high_watermark(self, r: int, replica: dict[str, Any]) -> None:
        """Show a high watermark beyond the log, which nothing that is read may follow."""
        p = self.state
        if "hw" in replica:
            end = p.leo[r] if "log" in replica else replica.get("leo", replica["hw"])
            p.high_watermark[r] += max(0, replica["hw"] - end)

    def _record(self, name: str, offset: int) -> int:
        """The number of a record. Where it is seen first is where it belongs."""
        number = int(name[1:]) if name[:1] == "m" and name[1:].isdecimal() else MAX_RECORDS
        if number >= MAX_RECORDS:
            raise SubjectFailed(Kind.GARBAGE, f"a log has {name!r}, which no client produced: records are m0, m1, ...")
        if self._offsets[number] == _UNSEEN:
            self._offsets[number] = offset
            self.state.record_offset |= offset << 4 * number
        return number

    def _replica(self, name: str | None) -> int:
        """The number of a replica, NONE for nobody, and for one that there is not."""
        names = REPLICA_NAMES[: self.state.replicas]
        return names.index(name) if name is not None and name in names else NONE

    def _epoch(self, epoch: int) -> int:
        if len(self._epochs) == EPOCHS and epoch not in self._epochs:
            raise SubjectFailed(Kind.GARBAGE, f"epoch {epoch} is one more than there can have been")
        return self._epochs.setdefault(epoch, len(self._epochs))
