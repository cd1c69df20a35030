"""A scenario: a re-elected leader commits a record that its follower truncated while another broker led.

C, A and B hold the replicas of one partition. C is the preferred leader, and A leads. C pauses, and A and B append m. A
pauses, C is elected, and B truncates m. C is shut down, and A is elected again. A resumes, learns of both elections at
once, and considers m committed. A leaves before B has fetched m again.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from epochfuzz.harness.cluster.broker.broker_log import LogLine
from epochfuzz.harness.cluster.broker.clients import Admin, IdempotentProducer, PartitionConsumer, read_all
from epochfuzz.harness.cluster.broker.cluster import Cluster
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.broker.variant import Control, Election, FailureMode, Variant
from epochfuzz.harness.cluster.errors import NotReached
from epochfuzz.harness.cluster.timeline import Recorder, ScenarioRun
from epochfuzz.harness.documents.cluster_records import Acknowledged, ConsumedRecord

TOPIC = "t"
PARTITION = f"{TOPIC}-0"
_RECORDS = "xmy"
_SOON = 20.0  # seconds: a step that takes longer counts as not reached
_SET_UP = 60.0  # a restarted broker rejoins only when the session of its previous process has expired
_SESSION = 40.0  # broker.session.timeout.ms is 9 s
_METADATA = "__cluster_metadata-0"


def play(cluster: Cluster, variant: Variant, say: Callable[[str], None]) -> ScenarioRun:
    """Run the scenario on a newly started cluster, and return the run with its verdict."""
    with ExitStack() as closing:
        scenario = _Scenario(cluster, variant, say, closing)
        began = time.monotonic()
        try:
            scenario.play()
        except NotReached as error:
            scenario.run.why = str(error)
            scenario.note("stop", f"NOT REACHED: {error}")
        finally:
            scenario.run.seconds = time.monotonic() - began
        return scenario.run


class _Scenario:
    """The steps of the scenario, on the brokers A, B and C. Each of the records x, m and y has its own producer.

    A broker handles one request of a connection at a time. A request with acks=all blocks its connection until the
    response, so a later record of its producer would have to wait.
    """

    def __init__(self, cluster: Cluster, variant: Variant, say: Callable[[str], None], closing: ExitStack) -> None:
        self.cluster, self.variant, self._say = cluster, variant, say
        self.a, self.b, self.c = cluster.brokers.values()
        self._set_up_at = 0.0
        self._recorder = Recorder(cluster.brokers, PARTITION)
        self.run = self._recorder.run
        every = ",".join(broker.address for broker in (self.a, self.b))
        self.writers = {name: closing.enter_context(IdempotentProducer(name, every, TOPIC)) for name in "xmyz"}
        self.reader: PartitionConsumer = closing.enter_context(PartitionConsumer(every, TOPIC))

    def play(self) -> None:
        """Run all steps, and set the verdict."""
        self._set_up()
        self._write_what_c_does_not_get()
        self._elect_c()
        self._elect_a_again()
        if self.variant.control is not Control.NO_PAUSE:
            self.a.resume()
        self._wait_for_the_answer()
        self._lose_a()
        self._end()

    # 0: C has been restarted, as in a rolling restart. A leads, and all replicas are in sync.

    def _set_up(self) -> None:
        replicas = [self.c.number, self.a.number, self.b.number]
        Admin(self.a.address).create_topic(TOPIC, [replicas], min_insync_replicas="2")
        self._until("all replicas are in sync", lambda: self._isr_is(self.c, 3), _SET_UP)
        self.c.terminate()
        self.cluster.wait_for_end(self.c)
        self._until("A leads", lambda: self._leads(self.a, 1))
        self.c.start()
        self._until("C is in sync again, and A leads", lambda: self._isr_is(self.a, 3), _SET_UP)
        for name in _RECORDS:
            self._send(f"{name}0", name)
            self._until(f"{name}0 is acknowledged", lambda name=name: self._is_acknowledged(f"{name}0"))  # type: ignore[misc]
        self._until("the consumer has read all records", lambda: len(self.reader.read) == len(_RECORDS))
        self._set_up_at = time.time()
        self.note("0", "C was restarted: A leads, all are in sync")

    # 1: A and B have m, and A knows that B has m. m is not committed, because C is in the ISR.

    def _write_what_c_does_not_get(self) -> None:
        self._pause(self.c)
        for name in _RECORDS:
            self._send(name)
            # y shows that B has fetched again after it appended m, so A knows that B has m.
            self._until(f"B has {name}", lambda name=name: self._has(self.b, name))  # type: ignore[misc]
        self.note("1", "C is paused; x, m and y are written, and B fetches them. C is in the ISR: none is committed")

    # 2: A is paused. C resumes with its log and is elected, and B truncates the records that C does not have.

    def _elect_c(self) -> None:
        if self.variant.control is not Control.NO_PAUSE:
            self._pause(self.a)
            # The next metadata record completes A's pending metadata fetch. That record must not be one of the
            # two elections.
            # An idle controller writes a record every 500 ms (metadata.max.idle.interval.ms).
            size = self._metadata_size()
            self._until("the controller has written another metadata record", lambda: self._metadata_size() > size)
        self.c.resume()  # C has x if one of its fetches was pending at A when C paused, otherwise not
        if self.variant.election is Election.ADMIN:
            paused = self.a.number if self.a.state == "paused" else None
            Admin(self.b.address).elect_preferred(TOPIC, [0], avoid=paused)
        self._until("C leads", lambda: self._leads(self.c, 2))
        self._until("B has the same log as C", lambda: self._logs_are_equal(self.b, self.c))
        self._until("B follows C", lambda: self._follows(self.b, 2))
        self.note("2", self._told_of_election())

    def _told_of_election(self) -> str:
        if self.variant.control is Control.NO_PAUSE:
            return "C resumes and fetches all; the preferred leader is elected: C leads, and A learns of it"
        return "A is paused, C resumes; the preferred leader is elected: C leads, and B truncates m and y as it must"

    # 3: A controlled shutdown of C. The controller elects A, whose session has not expired.

    def _elect_a_again(self) -> None:
        self.c.terminate()
        # C cannot exit yet: its controlled shutdown waits until every live broker has learned of it, and A is paused.
        self._until("B follows A at epoch 3", lambda: self._follows(self.b, 3))
        if self.a.state == "paused":
            # A reads the fetch before it learns of epoch 3, and rejects it (UNKNOWN_LEADER_EPOCH). B retries after
            # replica.fetch.backoff.ms, 1 s. For that second, A leads and no other replica has m.
            self._until("B's first fetch of epoch 3 waits at A", lambda: self.a.has_waiting_from(self.b))
        self.note("3", "C is shut down cleanly: A is elected again, with A and B in sync")

    # 4: A learns of both elections. A released Kafka considers m committed at once.

    def _wait_for_the_answer(self) -> None:
        self._until("A leads at epoch 3", lambda: self._leads(self.a, 3))
        self._until("m is acknowledged", lambda: self._is_acknowledged("m"))
        self._until("the consumer has read m", lambda: any(each.value == "m" for each in self.reader.read))
        self.note("4", "A resumes, learns of both elections, and leads; m is acknowledged and read")

    # 5: A leaves, and B leads.

    def _lose_a(self) -> None:
        if self.variant.control is Control.LATE:
            self._until("B has m again", lambda: self._has(self.b, "m"))
        had_m = self._has(self.b, "m")
        {FailureMode.TERM: self.a.terminate, FailureMode.KILL: self.a.kill, FailureMode.PAUSE: self.a.pause}[
            self.variant.end
        ]()
        self._until("B leads", lambda: self._leads(self.b, 4), _SESSION)
        how = {
            FailureMode.TERM: "shut down cleanly",
            FailureMode.KILL: "killed",
            FailureMode.PAUSE: "paused beyond its session",
        }
        self.note("5", f"A is {how[self.variant.end]}, B {'has' if had_m else 'does not have'} m; B leads")

    # 6: A and C restart, and producers write again.

    def _end(self) -> None:
        if self.variant.end is FailureMode.PAUSE:
            self.a.resume()
        else:
            self.cluster.wait_for_end(self.a)
            self.a.start()
        self.cluster.wait_for_end(self.c)
        self.c.start()
        self._until("all are in sync again", lambda: self._isr_is(None, 3), _SET_UP)
        # m's producer may have failed, because it assumes that the leader has m. z has another producer.
        self._send("n", "m")
        self._send("z")
        self._until("z is acknowledged", lambda: self._is_acknowledged("z"))
        self._until("n is answered", lambda: self._is_answered("n"))
        self._until("all logs are the same", lambda: self._logs_are_equal(*self.cluster.brokers.values()))
        left = read_all(self.b.address, TOPIC)
        self._judge(left)
        self.note("6", f"A and C are back, z is written; a new consumer reads {_described(left)}")

    def _judge(self, left: list[ConsumedRecord]) -> None:
        self.run.judge(self._acknowledged(), left, self.reader.read)
        self.run.evidence = list(self._evidence())
        self.run.clients = list(self._told_clients())

    def _told_clients(self) -> Iterator[str]:
        for name, writer in self.writers.items():
            for each in writer.refused:
                yield f"producer of {name}, when it sent {each.value}: {each.error}"
            if writer.fatal is not None:
                yield f"producer of {name}, when it resumed: {writer.fatal}"
        for error in self.reader.errors:
            yield f"consumer: {error}"

    def _evidence(self) -> list[tuple[str, str]]:
        """Return the brokers' log lines about new leaders and truncations, as (broker, line), sorted by time."""
        found = [
            (line.at, name, line.text)
            for name in self.cluster.brokers
            for line in self._recorder.lines(name)
            if line.kind != "follower" and line.at >= self._set_up_at
        ]
        return [(name, text) for _, name, text in sorted(found)]

    def note(self, step: str, what: str) -> None:
        """Record and print the end of a step."""
        self._say(f"{step}  {what}")
        self._recorder.note(step, what, self._acknowledged(), list(self.reader.read))

    def _until(self, what: str, condition: Callable[[], object], seconds: float = _SOON) -> None:
        self.cluster.until(what, condition, seconds)

    def _send(self, value: str, writer: str | None = None) -> None:
        self.writers[writer or value].send(value)

    def _pause(self, node: Node) -> None:
        node.pause()
        self._until(f"{node.name} stands still", lambda: node.state == "paused")

    def _acknowledged(self) -> list[Acknowledged]:
        return sorted((each for writer in self.writers.values() for each in writer.acknowledged), key=lambda a: a.at)

    def _is_acknowledged(self, value: str) -> bool:
        return any(each.value == value for each in self._acknowledged())

    def _is_answered(self, value: str) -> bool:
        refused = (each.value for writer in self.writers.values() for each in writer.refused)
        return self._is_acknowledged(value) or value in refused or self.writers["m"].fatal is not None

    def _has(self, node: Node, value: str) -> bool:
        return any(record.value == value for record in self._recorder.records(node.name))

    def _logs_are_equal(self, *nodes: Node) -> bool:
        first, *others = (self._recorder.records(node.name) for node in nodes)
        return all(other == first for other in others)

    def _leads(self, node: Node, epoch: int) -> bool:
        return self._has_said(node, lambda line: line.kind == "leader" and line.epoch >= epoch)

    def _follows(self, node: Node, epoch: int) -> bool:
        return self._has_said(node, lambda line: line.kind == "follower" and line.epoch >= epoch)

    def _has_said(self, node: Node, says: Callable[[LogLine], bool]) -> bool:
        return any(says(line) for line in self._recorder.lines(node.name))

    def _isr_is(self, leader: Node | None, size: int) -> bool:
        leads, isr = Admin(self.b.address).leader_and_isr(TOPIC)
        return len(isr) == size and (leader is None or leads == leader.number)

    def _metadata_size(self) -> int:
        return sum(file.stat().st_size for file in (self.cluster.controller.data / _METADATA).glob("*.log"))


def _described(left: list[ConsumedRecord]) -> str:
    return " ".join(f"{each.value}@{each.offset}" for each in left)
