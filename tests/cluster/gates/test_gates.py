"""Gates hold the messages of a broker; a broker learns only the metadata below its limit."""

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from epochfuzz.harness.cluster.broker.segments import batches
from epochfuzz.harness.cluster.gates.frames import RequestKind, header, source
from epochfuzz.harness.cluster.gates.gates import Gates
from epochfuzz.harness.cluster.gates.proxy import ProxiedMessage
from tests.cluster.gates.messages import TOPIC, batch, definitions, request, response


class Connection:
    """Pass messages at once, and note them."""

    def __init__(self) -> None:
        self.held: dict[bool, deque[ProxiedMessage]] = {False: deque(), True: deque()}
        self.is_closed = False
        self.passed: list[ProxiedMessage] = []

    def pass_(self, message: ProxiedMessage) -> None:
        self.held[message.is_response].remove(message)
        self.passed.append(message)

    def close(self) -> None:
        self.is_closed = True
        for waiting in self.held.values():
            waiting.clear()


class Setting:
    """Gates with one connection, over which messages arrive."""

    def __init__(self, directory: Path) -> None:
        self.messages = definitions(directory)
        self.gates = Gates(self.messages)
        self.connection: Any = Connection()
        proxy: Any = SimpleNamespace(connections={self.connection}, lock=threading.RLock())
        self.gates.proxies["A"] = proxy

    def asks(self, client: str, key: int = 1, **values: Any) -> ProxiedMessage:
        body = request(self.messages.requests[key], client, values)
        asked = header(body)
        kind, number = source(asked)
        return self._arrives(
            ProxiedMessage(
                connection=self.connection, is_response=False, asked=asked, kind=kind, number=number, body=body
            )
        )

    def answers(self, message: ProxiedMessage, **values: Any) -> ProxiedMessage:
        body = response(self.messages.responses[message.asked.key], values)
        told = ProxiedMessage(
            connection=self.connection,
            is_response=True,
            asked=message.asked,
            kind=message.kind,
            number=message.number,
            body=body,
            request=message.body,
        )
        return self._arrives(told)

    def _arrives(self, message: ProxiedMessage) -> ProxiedMessage:
        if self.gates._is_held(message):
            self.connection.held[message.is_response].append(message)
        else:
            self.connection.passed.append(message)
        return message


def fetching(epoch: int = 0, offset: int = 0) -> dict[str, Any]:
    partition = {"Partition": 0, "CurrentLeaderEpoch": epoch, "FetchOffset": offset}
    return {"Topics": [{"TopicId": TOPIC, "Partitions": [partition]}]}


def answer(records: bytes = b"", error: int = 0, **more: Any) -> dict[str, Any]:
    partition = {"ErrorCode": error, "HighWatermark": 4, "Records": records} | more
    return {"Responses": [{"Partitions": [partition]}]}


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def test_a_gate_holds_the_requests_and_responses_of_a_single_broker(setting: Setting) -> None:
    setting.gates.shut(RequestKind.FETCH, 2)
    asked = setting.asks("broker-2-fetcher-0", **fetching())
    other = setting.asks("broker-3-fetcher-0", **fetching())
    assert setting.gates.held(RequestKind.FETCH, 2) == [asked]
    assert setting.connection.passed == [other]
    setting.gates.pass_(asked)
    told = setting.answers(asked, **answer())
    assert setting.gates.held(RequestKind.FETCH, 2, is_response=True) == [told]
    assert setting.gates.has(RequestKind.FETCH, 2)
    setting.gates.open(RequestKind.FETCH, 2)
    assert setting.connection.passed == [other, asked, told]


def test_a_gate_holds_heartbeats_and_reads_the_metadata_offset_of_a_broker_from_them(setting: Setting) -> None:
    setting.asks("2", key=63, CurrentMetadataOffset=17)
    setting.gates.shut(RequestKind.HEARTBEAT, 2)
    held = setting.asks("2", key=63, CurrentMetadataOffset=18)
    assert setting.gates.applied == {2: 18}
    assert setting.gates.held(RequestKind.HEARTBEAT, 2) == [held]


def test_a_metadata_request_waits_until_the_limit_exceeds_its_offset(setting: Setting) -> None:
    setting.gates.shut(RequestKind.METADATA, 2)
    setting.gates.limit(2, 10)
    asked = setting.asks("raft-client-2", **fetching(offset=10))
    assert setting.gates.held(RequestKind.METADATA, 2) == [asked]
    assert setting.gates.fetch_offset(asked) == 10
    setting.gates.limit(2, 11)
    assert setting.connection.passed == [asked]


def test_a_gate_truncates_a_metadata_response_after_the_last_batch_below_the_limit(setting: Setting) -> None:
    setting.gates.shut(RequestKind.METADATA, 2)
    setting.gates.limit(2, 12)
    whole = batch(10, b"one", b"two") + batch(12, b"three")
    told = setting.answers(setting.asks("raft-client-2", **fetching(offset=10)), **answer(whole))
    (partition,) = setting.gates.content(told)["Responses"][0]["Partitions"]
    assert [each.offset for each in batches(partition["Records"])] == [10]
    assert partition["HighWatermark"] == 4
    assert setting.connection.passed[-1] is told


def test_an_open_gate_passes_all_records_of_a_metadata_response(setting: Setting) -> None:
    whole = batch(10, b"one") + batch(11, b"two")
    told = setting.answers(setting.asks("raft-client-2", **fetching(offset=10)), **answer(whole))
    (partition,) = setting.gates.content(told)["Responses"][0]["Partitions"]
    assert partition["Records"] == whole


def test_a_fetch_session_keeps_the_epoch_of_the_last_request_with_an_epoch(setting: Setting) -> None:
    first = setting.asks("broker-2-fetcher-0", **fetching(epoch=3))
    later = setting.asks("broker-2-fetcher-0")
    assert setting.gates.asked_epoch(later, TOPIC) == 3
    setting.asks("broker-2-fetcher-0", ForgottenTopicsData=[{"TopicId": TOPIC, "Partitions": [0]}])
    assert setting.gates.asked_epoch(first, TOPIC) is None


@pytest.mark.parametrize(
    ("answered", "told", "error"),
    [
        (answer(batch(4, b"m0")), "1 records, high watermark 4", 0),
        (answer(DivergingEpoch={"Epoch": 0, "EndOffset": 2}), "epoch 0 ends at offset 2", 0),
        (answer(error=74), "0 records, high watermark 4", 74),
        ({"Responses": []}, "nothing new", 0),
    ],
)
def test_a_gate_describes_a_fetch_response_in_words(
    setting: Setting, answered: dict[str, Any], told: str, error: int
) -> None:
    message = setting.answers(setting.asks("broker-2-fetcher-0", **fetching()), **answered)
    assert (setting.gates.describe(message), setting.gates.error(message)) == (told, error)


def test_gates_close_only_the_connections_of_a_forgotten_broker(setting: Setting) -> None:
    setting.gates.shut(RequestKind.FETCH, 2)
    setting.asks("broker-2-fetcher-0", **fetching())
    forget: Callable[[int], None] = setting.gates.forget
    forget(3)
    assert not setting.connection.is_closed
    forget(2)
    assert setting.connection.is_closed
