"""After a schedule, a broker that was started and not registered yet takes part in the recovery."""

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")

from epochfuzz.harness.cluster.broker.broker_log import LogLine
from epochfuzz.harness.cluster.errors import NotReached
from epochfuzz.harness.cluster.gates.metadata import TopicPartition
from epochfuzz.harness.cluster.schedules import play
from epochfuzz.harness.cluster.schedules.stage import Stage, TopicSettings
from epochfuzz.harness.documents.cluster_records import Ended, Playing


class Recovered(Stage):
    """A leads, both replicas are in the ISR, and their logs are equal."""

    def partition(self) -> TopicPartition:
        return TopicPartition(None, 1, 0, (1, 2), (1, 2))

    def role(self, name: str) -> LogLine:
        return LogLine(
            at=0.0,
            text="",
            kind="leader" if name == "A" else "follower",
            partition=self.name,
            offset=0,
            leader=1,
            epoch=0,
        )

    def log(self, name: str) -> list[Any]:
        return []

    def shown(self) -> int:
        return 0 if self.leader() == "A" else -1


def until(what: str, condition: Any, seconds: float) -> Any:
    found = condition()
    if not found:
        raise NotReached(what)
    return found


@pytest.mark.parametrize(("state", "returning"), [("running", True), ("down", False), ("running", False)])
def test_recovery_waits_for_the_return_of_a_restarted_leader_and_keeps_the_records(state: str, returning: bool) -> None:
    def start_again(node: Any) -> Any:
        node.state = "running"
        return lambda: True

    brokers = {name: SimpleNamespace(name=name, number=number, state=state) for name, number in (("A", 1), ("B", 2))}
    cluster: Any = SimpleNamespace(
        gates=None,
        brokers=brokers,
        metadata=SimpleNamespace(end=0),
        open_all=lambda: None,
        start_again=start_again,
        is_unfenced=lambda node: True,
        named=lambda number: "A",
        until=until,
    )
    stage, playing = Recovered(cluster, TopicSettings()), Playing()
    if returning:
        stage.returning["A"] = lambda: True
    play._heal(stage, playing)
    assert (playing.ended, playing.why, stage.returning) == (Ended.KEPT, "", {})
