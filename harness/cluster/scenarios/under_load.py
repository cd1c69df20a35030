"""A scenario: like re_elected_leader.py, but with many partitions and a busy leader instead of a paused process.

A leads all partitions. A topic with many partitions is created on A, and a topic with fewer partitions on B. While a
broker creates logs, it serves clients and followers, but its metadata does not advance. The preferred leader C is
elected, and then shut down. A is elected again, and learns of both elections at once. A acknowledges the records that B
fetched from A after C's last fetch, although B has truncated these records. Then A leaves.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack

from epochfuzz.harness.cluster.broker.broker_log import LogLine
from epochfuzz.harness.cluster.broker.clients import Admin, Load, read_all
from epochfuzz.harness.cluster.broker.cluster import Cluster
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.broker.variant import FailureMode, Variant
from epochfuzz.harness.cluster.errors import NotReached
from epochfuzz.harness.cluster.timeline import ScenarioRun
from epochfuzz.harness.documents.cluster_records import Acknowledged, ReachedStep

TOPIC = "t"
_BUSY = "busy"
_PARTITIONS = 100
_PRODUCERS = 12
_BUSY_PARTITIONS = 600
_BUSY_ON_B = 250  # fewer than on A, so that B learns of C's election after C and before A
_WARM = 5_000  # records of each producer before the first step
_WITHIN = 90.0  # seconds


def play(cluster: Cluster, variant: Variant, say: Callable[[str], None]) -> ScenarioRun:
    """Run the scenario on a newly started cluster, and return the run with its verdict."""
    with ExitStack() as closing:
        scenario = _Scenario(cluster, variant, say)
        try:
            scenario.play(closing)
        except NotReached as error:
            scenario.run.why = str(error)
            scenario.note("stop", f"NOT REACHED: {error}")
        scenario.run.seconds = scenario.seconds()
        return scenario.run


class _Scenario:
    """The steps of the scenario, on the brokers A, B and C."""

    def __init__(self, cluster: Cluster, variant: Variant, say: Callable[[str], None]) -> None:
        self.cluster, self.variant, self._say = cluster, variant, say
        self.a, self.b, self.c = cluster.brokers.values()
        self.run = ScenarioRun()
        self._began = time.monotonic()
        self._loads: list[Load] = []

    def play(self, closing: ExitStack) -> None:
        """Run all steps, and set the verdict."""
        self._set_up()
        every = ",".join(broker.address for broker in (self.a, self.b))
        self._loads = [
            closing.enter_context(Load(f"p{number}", every, TOPIC, _PARTITIONS)) for number in range(_PRODUCERS)
        ]
        self._until(
            "every producer makes progress", lambda: all(len(load.acknowledged) > _WARM for load in self._loads)
        )
        self.note("1", f"{_PRODUCERS} producers make progress, {len(self._acknowledged()):,} records are acknowledged")
        self._keep_a_busy()
        self._elect_c_and_a_again()
        self._lose_a()
        self._end()

    def _set_up(self) -> None:
        replicas = [self.c.number, self.a.number, self.b.number]
        Admin(self.a.address).create_topic(TOPIC, [replicas] * _PARTITIONS, min_insync_replicas="2")
        self._until("C leads", lambda: Admin(self.b.address).are_in_sync(TOPIC, _PARTITIONS, self.c.number))
        self.c.terminate()
        self.cluster.wait_for_end(self.c)
        self.c.start()
        self._until(
            "A leads, C is in sync", lambda: Admin(self.b.address).are_in_sync(TOPIC, _PARTITIONS, self.a.number)
        )
        self.note("0", f"C was restarted: A leads {_PARTITIONS} partitions, all are in sync")

    def _keep_a_busy(self) -> None:
        for broker, partitions in ((self.a, _BUSY_PARTITIONS), (self.b, _BUSY_ON_B)):
            Admin(self.b.address).create_topic(f"{_BUSY}-{broker.name}", [[broker.number]] * partitions)
            self._until(f"{broker.name} makes logs", lambda broker=broker: any(broker.data.glob(f"{_BUSY}-*")))  # type: ignore[misc]
        self.note(
            "2",
            f"topics of {_BUSY_PARTITIONS} partitions on A and {_BUSY_ON_B} on B are created: both make logs",
        )

    def _elect_c_and_a_again(self) -> None:
        Admin(self.b.address).elect_preferred(TOPIC, list(range(_PARTITIONS)), avoid=self.a.number)
        self._until("C leads all", lambda: self._count(self.c, lambda line: _leads(line, 2)) == _PARTITIONS)
        self._until("B follows C in all", lambda: self._count(self.b, lambda line: _follows(line, 2)) == _PARTITIONS)
        heard = self._count(self.a, lambda line: _follows(line, 2))
        self.note(
            "3", f"the preferred leader is elected: C leads, B follows; A has learned {heard} of {_PARTITIONS} changes"
        )
        self.c.terminate()
        self._until("A leads again", lambda: self._count(self.a, lambda line: _leads(line, 3)) == _PARTITIONS)
        missed = _PARTITIONS - self._count(self.a, lambda line: _follows(line, 2))
        truncated = self._count(self.b, lambda line: line.kind == "truncation" and line.offset > 0)
        self.note(
            "4",
            f"C is shut down cleanly, A leads again: it has missed C's epoch in {missed} of {_PARTITIONS}"
            f" partitions, and B has truncated in {truncated}",
        )

    def _lose_a(self) -> None:
        if self.variant.end is FailureMode.KILL:
            self.a.kill()
        else:
            self.a.terminate()
        self._until("B leads all", lambda: self._count(self.b, lambda line: _leads(line, 4)) == _PARTITIONS)
        for load in self._loads:
            load.is_going_on = False
        how = "killed" if self.variant.end is FailureMode.KILL else "shut down cleanly"
        self.note("5", f"A is {how}, B leads; {len(self._acknowledged()):,} records are acknowledged")

    def _end(self) -> None:
        self.cluster.wait_for_end(self.a)
        self.cluster.wait_for_end(self.c)
        self.a.start()
        self.c.start()
        self._until("all are in sync again", lambda: Admin(self.b.address).are_in_sync(TOPIC, _PARTITIONS))
        self.run.judge(self._acknowledged(), read_all(self.b.address, TOPIC, _PARTITIONS))
        if self.run.lost:
            self.run.evidence = self._evidence(f"{TOPIC}-{self.run.lost[0].partition}")
        self.run.clients = sorted({load.fatal for load in self._loads if load.fatal is not None})[:1]
        self.note("6", "A and C are back, and a new consumer reads all partitions")

    def _evidence(self, partition: str) -> list[tuple[str, str]]:
        """Return the brokers' log lines about a partition's new leaders and truncations, as (broker, line), by time."""
        lines = [
            (line.at, name, line) for name, node in self.cluster.brokers.items() for line in node.log.lines(partition)
        ]
        told = sorted((at, name, line.text) for at, name, line in lines if line.kind != "follower" and line.offset > 0)
        return [(name, text) for _, name, text in told]

    def note(self, step: str, what: str) -> None:
        """Record and print the end of a step."""
        self._say(f"{step}  {what}")
        self.run.moments.append(
            ReachedStep(after=self.seconds(), step=step, what=what, replicas={}, acknowledged=(), read=())
        )

    def seconds(self) -> float:
        """Return the time since the scenario began, in seconds."""
        return time.monotonic() - self._began

    def _acknowledged(self) -> list[Acknowledged]:
        return [each for load in self._loads for each in list(load.acknowledged)]

    def _count(self, node: Node, says: Callable[[LogLine], bool]) -> int:
        """Return the number of partitions that a broker's log names in a line that `says` accepts."""
        lines = node.log.lines_of(TOPIC)
        return len({line.partition for line in lines if says(line)})

    def _until(self, what: str, condition: Callable[[], object]) -> None:
        self.cluster.until(what, condition, _WITHIN)


def _leads(line: LogLine, epoch: int) -> bool:
    return line.kind == "leader" and line.epoch == epoch


def _follows(line: LogLine, epoch: int) -> bool:
    return line.kind == "follower" and line.epoch == epoch
