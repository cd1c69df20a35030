"""A replica: what it does as a leader and as a follower, and what it keeps on disk. It knows nothing of processes.

A follower's request goes out through `ask`, which is handed in; requests of others come in through `answer`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conform.subject.disk import Disk
from tests.conform.subject.epochs import UNDEFINED, LeaderEpochs
from tests.conform.subject.log import Log
from tests.conform.subject.protocols import PROTOCOLS, CutsWhen, Protocol
from tests.conform.subject.records import batches

Message = dict[str, Any]
Ask = Callable[[str, Message], Message | None]  # the leader's name and the request; None: it cannot be reached


class Replica:
    """One replica of the partition. Every public method is an event, and says whether it was enabled."""

    def __init__(self, name: str, directory: Path, config: Message, protocol: str, ask: Ask) -> None:
        self.name = name
        self.config = config
        self.does: Protocol = PROTOCOLS[protocol]
        self.disk = Disk(directory)
        self.ask = ask
        self.log = Log(self.disk)
        self.epochs = LeaderEpochs(self.disk, clears_conflicts=self.does.assigns_as_leader)
        self.recover_epochs()
        self.hw = self.recover_high_watermark()
        self.leader: str | None = None
        self.leader_epoch: int | None = None
        self.truncating = False
        self.has_stepped_back = False  # while truncating: the log has been truncated to where an older epoch ends
        self.halted = False
        self.in_flight: Message | None = None
        self.asked = ("", 0, 0)  # whom, from which offset, and in which leader epoch
        self.isr: list[str] = []
        self.epoch_start = 0
        self.remote: dict[str, int] = {}  # log end offsets of followers, as their fetches showed them
        self.heard_from: set[str] = set()  # the followers that have fetched in this epoch

    def recover_epochs(self) -> None:
        """Epochs that start at the end of the log, or beyond, have no record in it."""
        self.epochs.cut(self.log.end)

    def recover_high_watermark(self) -> int:
        """The checkpoint, as far as the log still reaches."""
        checkpointed = self.disk.read_high_watermark()
        recovered = min(checkpointed, self.log.end)
        if recovered < checkpointed and not self.config["asynchronous_checkpoint"]:
            self.disk.write_high_watermark(recovered)
        return recovered

    # Decisions of the controller

    def learn(self, leader: str, epoch: int, isr: list[str]) -> bool:
        """A LeaderAndIsr request."""
        led = self.leads
        must_cut = self.must_cut(leader, epoch)
        self.leader, self.leader_epoch = leader, epoch
        if not self.does.fetches_on:
            self.in_flight = None
        if self.leads:
            self.remote = self.remembered() if led else {}
            self.lead(isr, led)
        else:
            self.isr, self.remote = [], {}
            if must_cut:
                self.follow()
        return True

    def create(self, leader: str, isr: list[str]) -> bool:
        """The partition is new: there is a leader, and nobody has anything to truncate."""
        self.learn(leader, 0, isr)
        self.truncating = False
        return True

    def must_cut(self, leader: str, epoch: int) -> bool:
        """Whether news of another leader means that the log may have what that leader's has not."""
        if leader != self.leader or self.does.cuts_when is CutsWhen.EACH_EPOCH:
            return True
        return self.does.cuts_when is CutsWhen.EPOCH_MISSED and epoch > self.known_epoch + 1

    def remembered(self) -> dict[str, int]:
        """What a leader that stays leader, in a later epoch, knows of its followers."""
        return self.remote if self.does.remembers_followers else {}

    def lead(self, isr: list[str], led: bool) -> None:
        """Become leader, or stay leader in a later epoch."""
        self.truncating = False
        self.isr = isr
        self.epoch_start = self.log.end
        self.heard_from = set()
        if not led and self.hw > self.log.end:
            self.set_high_watermark(0)  # which consumers may read up to: nothing of what the log has is known to be
        if self.does.assigns_as_leader:
            self.epochs.assign(self.known_epoch, self.log.end)
        self.advance_high_watermark()

    def follow(self) -> None:
        """Become a follower, whose log may have what its leader's has not."""
        self.has_stepped_back = False
        if self.does.asks_for_epoch_end:
            # From KIP-320 on a replica that has no epoch to ask for fetches at once.
            self.truncating = bool(self.epochs.entries) or not self.does.fences
        else:
            self.cut(self.hw)

    # As a leader

    def produce(self, record: str) -> bool:
        """A client's record arrives."""
        if not self.leads:
            return False
        if self.config["acks"] == "all" and len(self.isr) < self.config["min_insync_replicas"]:
            return False  # NOT_ENOUGH_REPLICAS
        self.epochs.assign(self.known_epoch, self.log.end)
        self.log.append(self.known_epoch, record)
        self.advance_high_watermark()
        return True

    def advance_high_watermark(self) -> None:
        """To what every member of the ISR has."""
        everywhere = min([self.log.end, *(self.remote.get(name, 0) for name in self.isr if name != self.name)])
        self.set_high_watermark(max(self.hw, everywhere))

    def answer(self, request: Message) -> Message:
        """Answer a follower."""
        if not self.leads:
            return {"error": "NOT_LEADER_FOR_PARTITION"}
        if self.fences(request["current_epoch"]):
            return {"error": "FENCED_OR_UNKNOWN_LEADER_EPOCH"}
        if request["ask"] == "epoch end":
            epoch, end = self.epoch_end(request["epoch"])
            return {"epoch": epoch, "end": end}
        return self.answer_fetch(request["follower"], request["offset"])

    def fences(self, epoch: int) -> bool:
        """Whether a follower at that epoch is refused."""
        return self.does.fences and epoch != self.leader_epoch

    def epoch_end(self, epoch: int) -> tuple[int, int]:
        """OffsetsForLeaderEpoch."""
        return self.epochs.end_of(epoch, self.log.end)

    def answer_fetch(self, follower: str, offset: int) -> Message:
        """Fetch: the offset says what the follower has, which the leader notes once it has read what to answer.

        Where it found no records it waits, and reads again.
        """
        if offset > self.log.end:
            if self.does.forgets_out_of_range:
                self.remote.pop(follower, None)
            return {"out_of_range": self.log.end}
        data, high_watermark = self.log.read(offset, self.config["records_per_fetch"]), self.hw
        self.remote[follower] = offset
        self.heard_from.add(follower)
        self.advance_high_watermark()
        return {"batches": data.hex(), "hw": high_watermark if data else self.hw}

    def shrink(self, follower: str) -> bool:
        """A follower has been behind for too long."""
        if follower not in self.isr or self.remote.get(follower, 0) >= self.log.end:
            return False
        self.isr.remove(follower)
        self.advance_high_watermark()
        return True

    def expand(self, follower: str) -> bool:
        """A follower outside the ISR has fetched: is it in sync again?"""
        if follower in self.isr or not self.is_in_sync(follower):
            return False
        self.isr.append(follower)
        return True

    def is_in_sync(self, follower: str) -> bool:
        """By what its fetches showed, of which there has to be one in this epoch."""
        needed = max(self.hw, self.epoch_start if self.does.expands_at_epoch_start else 0)
        return follower in self.heard_from and self.remote.get(follower, -1) >= needed

    # As a follower

    def fetch(self) -> bool:
        """Ask the leader for what is next: where to truncate, or records."""
        if self.leader in (None, self.name) or (self.in_flight is not None and self.is_awaited):
            return False
        request = {"ask": "fetch", "follower": self.name, "offset": self.log.end, "current_epoch": self.leader_epoch}
        if self.truncating:
            request |= {"ask": "epoch end", "epoch": self.epochs.latest}
        answer = self.ask(str(self.leader), request)
        if answer is None or "error" in answer:
            return False
        self.in_flight, self.asked = answer, (str(self.leader), self.log.end, self.leader_epoch)
        return True

    @property
    def is_awaited(self) -> bool:
        """Whether what is in flight is of the leader of now, towards whom there is one thread."""
        return not self.does.fetches_on or self.asked[0] == self.leader

    def counts(self, answer: Message) -> bool:
        """Whether an answer is taken for one to what was asked last."""
        if not self.does.fetches_on or "end" in answer:
            return self.is_awaited
        is_of_another_epoch = self.does.fences and self.asked[2] != self.leader_epoch
        return self.is_awaited and self.asked[1] == self.log.end and not self.truncating and not is_of_another_epoch

    def receive(self) -> bool:
        """The answer arrives."""
        answer, self.in_flight = self.in_flight, None
        if answer is None:
            return False
        if not self.counts(answer):
            return True
        match answer:
            case {"epoch": epoch, "end": end}:
                self.cut_to_answer(epoch, end)
            case {"out_of_range": end}:
                self.cut_out_of_range(end)
            case {"batches": data, "hw": hw}:
                self.append(bytes.fromhex(data))
                self.set_high_watermark(min(self.log.end, hw))
        return True

    def drop(self) -> bool:
        """The answer is lost."""
        was_in_flight, self.in_flight = self.in_flight is not None, None
        return was_in_flight

    def append(self, data: bytes) -> None:
        """Append what was fetched, each record with the epoch that its leader gave it."""
        for one in batches(data):
            self.epochs.assign(one.epoch, self.log.end)
            self.log.append_batch(one)

    def cut_out_of_range(self, end: int) -> None:
        """The log is longer than the leader's: what clients know may be in it, and will be lost."""
        if self.does.halts_out_of_range and not self.config["unclean_leader_election"]:
            self.halted = True
        else:
            self.cut(end)

    def cut_to_answer(self, epoch: int, end: int) -> None:
        """The leader has said where an epoch ends in its log."""
        self.truncating = False
        if end == UNDEFINED:
            self.cut(self.log.end if self.has_stepped_back else self.hw)
        elif not self.does.steps_back:
            self.cut(end)
        else:
            self.step_back(epoch, end)

    def step_back(self, epoch: int, end: int) -> None:
        """KIP-279: cut to where both know the epoch, or ask again from an older one."""
        own_epoch, own_end = self.epochs.end_of(epoch, self.log.end)
        if own_epoch == UNDEFINED:
            self.cut(end)
        elif own_epoch == epoch:
            self.cut(min(end, own_end))
        else:
            self.cut(own_end)
            self.truncating = self.has_stepped_back = True

    # On disk

    def cut(self, end: int) -> None:
        """Cut the log to `end` if it is longer, and what goes with it."""
        if end < self.log.end:
            self.log.cut(end)
            self.epochs.cut(end)
        elif not self.does.cuts_epochs_with_log:
            self.epochs.cut(self.log.end)
        if not self.does.keeps_high_watermark:
            self.set_high_watermark(min(self.hw, self.log.end))

    def set_high_watermark(self, offset: int) -> None:
        """In memory, and on disk unless that is the business of `checkpoint`."""
        changed, self.hw = offset != self.hw, offset
        if changed and not self.config["asynchronous_checkpoint"]:
            self.disk.write_high_watermark(offset)

    def checkpoint(self) -> bool:
        """Write the high watermark to disk."""
        if self.disk.read_high_watermark() == self.hw:
            return False
        self.disk.write_high_watermark(self.hw)
        return True

    def flush(self) -> bool:
        """Force the log to disk."""
        return self.disk.sync()

    # Seen from outside

    @property
    def leads(self) -> bool:
        """It takes itself for the leader."""
        return self.leader == self.name

    @property
    def known_epoch(self) -> int:
        """The leader epoch of a replica that has learned one."""
        assert self.leader_epoch is not None
        return self.leader_epoch

    def observe(self) -> Message:
        """What can be seen of it."""
        seen: Message = {
            "up": True,
            "leo": self.log.end,
            "hw": self.hw,
            "log": [[one.record, one.epoch] for one in self.log.batches],
            "leader": self.leader,
            "leader_epoch": self.leader_epoch,
        }
        return seen | ({"epochs": self.epochs.entries} if self.does.asks_for_epoch_end else {})

    def report_to_controller(self) -> Message:
        """What the cluster has to know of it, and nobody else."""
        return {"truncating": self.truncating, "isr": self.isr, "halted": self.halted}
