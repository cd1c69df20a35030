"""The cluster: it starts and kills the replicas' processes, is their controller, and carries out events."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conform.subject.disk import Disk
from tests.conform.subject.generations import GENERATIONS
from tests.conform.subject.process import Connection, bound, kill, start
from tests.conform.subject.replica import Message

NAMES = "ABCDE"
_MEMORY = Path("/dev/shm")


class ReplicaDied(Exception):
    """A replica's process is gone, and it was no event that ended it."""


@dataclass
class Decision:
    """What the controller decided for an epoch. Changes of the ISR within the epoch are made to it."""

    leader: str | None
    isr: list[str]


class Cluster:
    """The replicas of one partition and their controller. A method that is named as an event carries it out."""

    def __init__(self) -> None:
        memory = _MEMORY.is_dir() and "TMPDIR" not in os.environ
        self.directory = Path(tempfile.mkdtemp(prefix="conform-subject-", dir=_MEMORY if memory else None))
        self._held = {name: bound() for name in NAMES}
        self._ports = {name: held.getsockname()[1] for name, held in self._held.items()}
        self._processes: dict[str, tuple[int, Connection]] = {}
        self.names = ""

    def close(self) -> None:
        """End all processes and remove what they wrote."""
        for name in list(self._processes):
            self._kill(name)
        shutil.rmtree(self.directory)

    def reset(self, config: dict[str, Any], protocol: str) -> None:
        """Empty disks, everyone up, A leads epoch 0 with all in sync. Processes that live are used again."""
        self.config, self.protocol = config, protocol
        self.names = NAMES[: config["replicas"]]
        self.produced = 0
        self.decisions = [Decision("A", list(self.names))]
        self.next_epoch = dict.fromkeys(self.names, 0)  # of the decisions, the first that a replica has not learned
        self.seen: dict[str, Message] = {}
        self.reported: dict[str, Message] = {}
        for name in set(self._processes) - set(self.names):
            self._kill(name)
        for name in self.names:
            self._open(name, empty=True)
            self._learn(name, 0)

    def apply(self, event: str) -> bool:
        """Carry out an event such as `fetch B`."""
        verb, name = event.split()
        return bool(getattr(self, verb)(name))

    def observe(self) -> Message:
        """What can be seen of everybody."""
        current = self.decisions[-1]
        return {
            "replicas": self.seen,
            "controller": {"leader": current.leader, "epoch": self.epoch, "isr": current.isr},
        }

    # Replication

    def produce(self, name: str) -> bool:
        """A client sends the next record to a replica."""
        done = self._do(name, "produce", record=f"m{self.produced}")
        self.produced += done
        return done

    def fetch(self, name: str) -> bool:
        """A follower asks the leader it knows, which may change on being asked."""
        done = self._do(name, "fetch")
        if done:
            self._do(self.seen[name]["leader"], "observe")
        return done

    def receive(self, name: str) -> bool:
        """The answer arrives."""
        return self._do(name, "receive")

    def drop(self, name: str) -> bool:
        """The answer is lost."""
        return self._do(name, "drop")

    # Faults

    def crash(self, name: str) -> bool:
        """SIGKILL. What is seen from then on is what is on disk."""
        if not self.is_up(name):
            return False
        self._kill(name)
        self._look_at_disk(name)
        return True

    def power_loss(self, name: str) -> bool:
        """SIGKILL, and what was not fsynced is gone."""
        if not self.is_up(name):
            return False
        self._kill(name)
        self._disk(name).lose_power()
        self._look_at_disk(name)
        return True

    def restart(self, name: str) -> bool:
        """Start the process on what is on disk. The controller notifies it of the current decision later."""
        if self.is_up(name):
            return False
        self._open(name, empty=False)
        self.next_epoch[name] = self.epoch
        return True

    def flush(self, name: str) -> bool:
        """fsync."""
        return self._do(name, "flush")

    def checkpoint(self, name: str) -> bool:
        """The high watermark is written to disk."""
        return self._do(name, "checkpoint")

    # The controller

    @property
    def epoch(self) -> int:
        """The epoch of the current decision."""
        return len(self.decisions) - 1

    def notify(self, name: str) -> bool:
        """The next decision reaches a replica."""
        return self.is_up(name) and self.next_epoch[name] <= self.epoch and self._learn(name, self.next_epoch[name])

    def catch_up(self, name: str) -> bool:
        """The latest decision reaches a replica that has missed others."""
        return self.is_up(name) and self.next_epoch[name] < self.epoch and self._learn(name, self.epoch)

    def elect(self, name: str) -> bool:
        """A member of the ISR becomes leader, or anyone, if that is allowed and no member is up."""
        current = self.decisions[-1]
        if not self.is_up(name) or name == current.leader:
            return False
        if name in current.isr:
            self.decisions.append(Decision(name, list(current.isr)))
            return True
        if self.config["unclean_leader_election"] and not any(map(self.is_up, current.isr)):
            self.decisions.append(Decision(name, [name]))
            return True
        return False

    def expire(self, name: str) -> bool:
        """The session of a replica is over: it leads no more, and leaves the ISR unless it is the last member."""
        current = self.decisions[-1]
        leader = None if current.leader == name else current.leader
        isr = [member for member in current.isr if member != name] or current.isr
        if (leader, isr) == (current.leader, current.isr):
            return False
        self.decisions.append(Decision(leader, list(isr)))
        return True

    def shrink(self, name: str) -> bool:
        """The leader finds that a follower lags."""
        leader = self.true_leader()
        return leader not in (None, name) and self._change_isr(str(leader), "shrink", name)

    def expand(self, name: str) -> bool:
        """The leader finds that a follower, which fetches from it, has caught up."""
        leader = self.true_leader()
        if leader in (None, name) or not self._fetches_from(name, str(leader)):
            return False
        return self._change_isr(str(leader), "expand", name)

    def true_leader(self) -> str | None:
        """The leader decided on, once it knows; the controller takes changes of the ISR from no other."""
        leader = self.decisions[-1].leader
        if leader is None or not self.is_up(leader) or self.next_epoch[leader] <= self.epoch:
            return None
        return leader

    def _fetches_from(self, name: str, leader: str) -> bool:
        """Whether the leader hears from a follower. One at another epoch it would refuse, where epochs are compared."""
        if not self.is_up(name) or self.seen[name]["leader"] != leader or self.reported[name]["truncating"]:
            return False
        return not GENERATIONS[self.protocol].fences or self.seen[name]["leader_epoch"] == self.epoch

    def _change_isr(self, leader: str, verb: str, follower: str) -> bool:
        done = self._do(leader, verb, follower=follower)
        if done:
            self.decisions[-1].isr = self.reported[leader]["isr"]
        return done

    # Processes

    def is_up(self, name: str) -> bool:
        """Whether the replica's process runs."""
        return name in self._processes

    def _open(self, name: str, empty: bool) -> None:
        if name not in self._processes:
            self._processes[name] = start(name, self._disk(name).directory, self._ports)
        self._do(name, "open", config=self.config, protocol=self.protocol, empty=empty)

    def _kill(self, name: str) -> None:
        pid, connection = self._processes.pop(name)
        kill(pid)
        connection.close()

    def _learn(self, name: str, epoch: int) -> bool:
        decision = self.decisions[epoch]
        self.next_epoch[name] = epoch + 1
        return self._do(name, "learn", leader=decision.leader, epoch=epoch, isr=decision.isr)

    def _do(self, name: str, verb: str, **arguments: Any) -> bool:
        """Have a replica do something, and look at it; a replica that is down does nothing."""
        if not self.is_up(name):
            return False
        reply = self._processes[name][1].ask({"do": verb, "with": arguments})
        if reply is None:
            raise ReplicaDied(f"the process of {name} died on {verb}")
        self.seen[name], self.reported[name] = reply["seen"], reply["reported"]
        return bool(reply["done"])

    def _disk(self, name: str) -> Disk:
        return Disk(self.directory / name)

    def _look_at_disk(self, name: str) -> None:
        disk = self._disk(name)
        log = disk.read_log()
        self.seen[name] = {
            "up": False,
            "leo": len(log),
            "hw": min(disk.read_high_watermark(), len(log)),
            "log": [[one.record, one.epoch] for one in log],
            "leader": None,
            "leader_epoch": None,
        }
        if GENERATIONS[self.protocol].asks_for_epoch_end:
            self.seen[name]["epochs"] = disk.read_epochs()
