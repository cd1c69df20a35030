"""An event passes only its own message; an impossible event raises an error at once, without waiting."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")

from epochfuzz.harness.cluster.broker.broker_log import LogLine
from epochfuzz.harness.cluster.errors import NotReached
from epochfuzz.harness.cluster.gates.frames import RequestKind
from epochfuzz.harness.cluster.gates.metadata import MetadataBatch, TopicPartition
from epochfuzz.harness.cluster.schedules import events
from epochfuzz.harness.cluster.schedules.events import EventImpossible, Nothing
from epochfuzz.harness.cluster.schedules.stage import Stage

NUMBERS = {"A": 1, "B": 2, "C": 3}
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH = 74, 75


@dataclass(eq=False)
class Waiting:
    """A message at a gate."""

    kind: RequestKind
    number: int
    is_response: bool = False
    target: str = "A"
    epoch: int = 0
    error: int = 0

    @property
    def connection(self) -> Any:
        return SimpleNamespace(proxy=SimpleNamespace(target=self.target), is_closed=False)


class Gates:
    """Note passed messages. A passed request gets a response, and a passed response gets the next request."""

    def __init__(self) -> None:
        self.waiting: list[Waiting] = []
        self.passed: list[Waiting] = []
        self.dropped: list[Waiting] = []
        self.limits: dict[int, int] = {}
        self.opened: set[RequestKind] = set()
        self.error_code = 0

    def held(self, kind: RequestKind, number: int, is_response: bool = False) -> list[Waiting]:
        wanted = (kind, number, is_response)
        return [each for each in self.waiting if (each.kind, each.number, each.is_response) == wanted]

    def pass_(self, message: Waiting) -> None:
        self.passed.append(message)
        self.waiting.remove(message)
        self.waiting.append(Waiting(message.kind, message.number, not message.is_response, message.target, 0))

    def drop(self, message: Waiting) -> None:
        self.dropped.append(message)
        self.waiting.remove(message)

    def asked_epoch(self, message: Waiting, topic: object) -> int:
        return message.epoch

    def error(self, message: Waiting) -> int:
        return self.error_code

    def describe(self, message: Waiting) -> str:
        return "1 records"

    def limit(self, number: int, offset: int) -> None:
        self.limits[number] = offset

    def open(self, kind: RequestKind, number: int) -> None:
        self.opened.add(kind)

    def is_shut(self, kind: RequestKind, number: int) -> bool:
        return True


@dataclass
class Fake:
    """A stage without a cluster: A leads epoch 0, B and C follow it."""

    gates: Gates = field(default_factory=Gates)
    decisions: list[MetadataBatch] = field(default_factory=list)
    partition_: TopicPartition = field(default_factory=lambda: TopicPartition(None, 1, 0, (1, 2, 3), (1, 2, 3)))
    learned: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NUMBERS, 10))
    down: set[str] = field(default_factory=set)
    fenced: dict[str, int] = field(default_factory=dict)
    returning: dict[str, Any] = field(default_factory=dict)
    proposed: tuple[int, ...] | None = None
    unfenced: bool = True
    topic: str = "t1"
    epochs: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NUMBERS, 0))

    @property
    def cluster(self) -> Any:
        metadata = SimpleNamespace(end=20, topics={"t1": None}, decisions=self.decisions)
        metadata.look = lambda: metadata
        return SimpleNamespace(
            metadata=metadata,
            asks_beyond=lambda node: self.gates.limits[node.number],
            is_unfenced=lambda node: self.unfenced,
            start_again=self.start_again,
            shut=lambda node: self.gates.limit(node.number, metadata.end),
            named=lambda number: {number: name for name, number in NUMBERS.items()}.get(number, "nobody"),
        )

    def until(self, what: str, condition: Any, seconds: float = 0) -> Any:
        for _ in range(3):
            found = condition()
            if found:
                return found
        raise NotReached(what)

    def wait_for_return(self, name: str) -> None:
        Stage.wait_for_return(self, name)  # type: ignore[arg-type]

    def node(self, name: str) -> Any:
        state = "down" if name in self.down else "running"
        return SimpleNamespace(number=NUMBERS[name], name=name, state=state)

    def start_again(self, node: Any) -> Any:
        self.down.discard(node.name)
        return lambda: RequestKind.HEARTBEAT in self.gates.opened

    def names(self, numbers: tuple[int, ...]) -> str:
        return ", ".join(self.cluster.named(number) for number in numbers)

    def partition(self) -> TopicPartition:
        return self.partition_

    def pending(self, name: str) -> list[MetadataBatch]:
        return Stage.pending(self, name)  # type: ignore[arg-type]

    def knows_unfenced(self, name: str, number: int) -> bool:
        return Stage.knows_unfenced(self, name, number)  # type: ignore[arg-type]

    def is_up(self, name: str) -> bool:
        return name not in self.down and name not in self.returning

    def leads(self, name: str) -> bool:
        return name == "A"

    def leader(self) -> str:
        return "A"

    def followed(self, name: str) -> str | None:
        return None if name == "A" else "A"

    def epoch(self, name: str) -> int:
        return self.epochs[name] + sum(each.opens_epoch and each.offset < self.learned[name] for each in self.decisions)

    def role(self, name: str) -> LogLine:
        return LogLine(at=0.0, text="", kind="follower", partition="t1-0", offset=0, leader=1, epoch=self.epoch(name))

    def log(self, name: str) -> list[Any]:
        return []

    def proposal(self, name: str) -> tuple[int, ...] | None:
        return self.proposed


def play(verb: str, stage: Fake, name: str) -> str:
    return events.EVENTS[verb](stage, name)  # type: ignore[arg-type]


def epochs(*offsets: int) -> list[MetadataBatch]:
    return [MetadataBatch(offset, True, "leader 2") for offset in offsets]


def test_fetch_passes_a_request_and_receive_passes_its_response() -> None:
    stage = Fake()
    asked = Waiting(RequestKind.FETCH, 2)
    stage.gates.waiting += [asked, Waiting(RequestKind.FETCH, 3)]
    assert play("fetch", stage, "B") == "A has responded to B: 1 records"
    assert stage.gates.passed == [asked]
    with pytest.raises(Nothing, match="B still waits for a response"):
        play("fetch", stage, "B")
    play("receive", stage, "B")
    assert [each.is_response for each in stage.gates.passed] == [False, True]
    with pytest.raises(Nothing, match="no response to B is in flight"):
        play("receive", stage, "B")


def test_fetch_drops_a_request_of_an_old_epoch_and_passes_a_request_of_the_current_epoch() -> None:
    stage = Fake(epochs={"A": 2, "B": 2, "C": 2})
    old, new = Waiting(RequestKind.FETCH, 2, epoch=1), Waiting(RequestKind.FETCH, 2, epoch=2)
    stage.gates.waiting += [old, new]
    play("fetch", stage, "B")
    assert (stage.gates.dropped, stage.gates.passed) == ([old], [new])


def test_fetch_raises_not_reached_if_no_request_arrives() -> None:
    with pytest.raises(NotReached, match="B asks A in epoch 0"):
        play("fetch", Fake(), "B")


def test_fetch_reports_an_error_response_at_once_and_a_fenced_follower_stops_fetching() -> None:
    stage = Fake()
    stage.gates.error_code = UNKNOWN_LEADER_EPOCH
    stage.gates.waiting.append(Waiting(RequestKind.FETCH, 2))
    with pytest.raises(EventImpossible, match="A responds to B with error 75"):
        play("fetch", stage, "B")
    stage.gates.error_code = FENCED_LEADER_EPOCH
    with pytest.raises(EventImpossible, match="error 74"):
        play("fetch", stage, "B")
    with pytest.raises(Nothing, match="A has fenced B's epoch, and B waits for the next epoch"):
        play("fetch", stage, "B")


def test_a_restarted_broker_takes_part_only_after_its_registration() -> None:
    stage = Fake(down={"B"})
    assert play("restart", stage, "B") == "B starts"
    with pytest.raises(Nothing, match="B is not registered"):
        play("notify", stage, "B")
    assert play("register", stage, "B") == "B is back, and knows the current leader and ISR"
    assert stage.learned["B"] == 20
    with pytest.raises(Nothing, match="B is registered"):
        play("register", stage, "B")


@pytest.mark.parametrize("verb", ["produce", "fetch", "receive", "crash", "notify", "catch_up", "alter", "altered"])
def test_an_event_of_a_dead_broker_does_nothing(verb: str) -> None:
    with pytest.raises(Nothing, match="A is down"):
        play(verb, Fake(down={"A"}), "A")


def test_a_leader_does_not_fetch_and_a_follower_does_not_append() -> None:
    with pytest.raises(Nothing, match="A knows no leader to follow"):
        play("fetch", Fake(), "A")
    stage: Any = Fake()
    stage.sent = {}
    with pytest.raises(Nothing, match="B doesn't consider itself the leader"):
        play("produce", stage, "B")


def test_notify_delivers_the_next_leader_epoch_and_the_changes_during_this_epoch() -> None:
    changed = MetadataBatch(13, False, "broker 3 is fenced")
    stage = Fake(decisions=[*epochs(11), changed, *epochs(15, 17)])
    play("notify", stage, "B")
    assert stage.gates.limits == {2: 15}
    assert stage.learned["B"] == 15
    play("notify", stage, "B")
    assert stage.gates.limits == {2: 17}


def test_catch_up_delivers_all_metadata_updates_at_once() -> None:
    stage = Fake(decisions=epochs(11, 15, 17))
    play("catch_up", stage, "B")
    assert stage.gates.limits == {2: 20}
    with pytest.raises(Nothing, match="B knows the current leader and ISR"):
        play("notify", stage, "B")


def test_elect_needs_an_unfenced_replica_in_the_isr() -> None:
    with pytest.raises(Nothing, match="A already leads, according to the controller"):
        play("elect", Fake(), "A")
    with pytest.raises(EventImpossible, match="B is fenced"):
        play("elect", Fake(unfenced=False), "B")
    stage: Any = Fake()
    stage.settings = SimpleNamespace(unclean_leader_election=True)
    stage.partition_.isr = (1, 2)
    with pytest.raises(EventImpossible, match="C is not in the ISR: A leads epoch 0, ISR A, B"):
        play("elect", stage, "C")


def test_a_leader_proposes_only_replicas_that_the_leader_considers_unfenced() -> None:
    stage = Fake(proposed=(1, 2, 3))
    stage.partition_.isr = (1, 2)
    stage.decisions = [MetadataBatch(3, False, "broker 3 is unfenced"), MetadataBatch(12, False, "broker 3 is fenced")]
    assert play("expand", stage, "C") == "A proposes the ISR A, B, C"
    stage.learned["A"] = 13
    with pytest.raises(Nothing, match="A considers C fenced"):
        play("expand", stage, "C")


def test_a_leader_with_a_pending_isr_proposal_makes_no_other_proposal() -> None:
    stage = Fake(proposed=(1, 2))
    with pytest.raises(Nothing, match="A has proposed the ISR A, B, and waits for the response"):
        play("shrink", stage, "B")
    assert play("shrink", stage, "C") == "A proposes the ISR A, B"
