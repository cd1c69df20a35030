"""A record is sent only once, in a batch that a broker accepts."""

import threading
import uuid
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")

from epochfuzz.harness.cluster.broker.segments import batches
from epochfuzz.harness.cluster.errors import NotReached
from epochfuzz.harness.cluster.gates.producing import Sending, batch
from epochfuzz.harness.cluster.record_format.batches import crc32c
from epochfuzz.harness.cluster.waiting import until


class Caller:
    """Respond with the given answer once the test sets `may`."""

    def __init__(self, answer: dict[str, Any] | NotReached) -> None:
        self.asked: list[dict[str, Any]] = []
        self.may = threading.Event()
        self._answer = answer

    def call(self, key: int, values: dict[str, Any], seconds: float) -> dict[str, Any]:
        self.asked.append(values)
        self.may.wait(10)
        if isinstance(self._answer, NotReached):
            raise self._answer
        return self._answer


def answered(error: int, offset: int) -> dict[str, Any]:
    return {"Responses": [{"PartitionResponses": [{"ErrorCode": error, "BaseOffset": offset}]}]}


def sent(answer: dict[str, Any] | NotReached) -> Sending:
    caller: Any = Caller(answer)
    sending = Sending(caller, ("t", uuid.UUID(int=7)), "m0", "all", None)
    until("it is sent", lambda: caller.asked, 10)
    assert caller.asked[0]["Acks"] == -1
    assert not sending.acknowledged
    caller.may.set()
    until("it is answered", lambda: sending.acknowledged or sending.refused, 10)
    assert len(caller.asked) == 1
    return sending


def test_crc32c_matches_the_standard() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(b"") == 0


def test_a_batch_has_the_bytes_that_kafka_writes() -> None:
    written = bytes.fromhex(  # m0 of test_segments.py, at offset 0 of no epoch, by no producer
        "00000000000000000000003a"
        "ffffffff 02 15d58ae8 0000 00000000 000001a20819b1dd 000001a20819b1dd"
        "ffffffffffffffff ffff ffffffff 00000001 10000000 01046d3000"
    )
    found = batch(b"m0", 0x1A20819B1DD)
    assert found[:17] + found[21:] == written[:17] + written[21:]
    assert int.from_bytes(found[17:21], "big") == crc32c(found[21:])
    (read,) = batches(found)
    assert [value for _, value in read.records()] == [b"m0"]


def test_an_idempotent_producer_numbers_its_records() -> None:
    assert batch(b"m1", 0, sequence=1)[43:57] == bytes.fromhex("00000000000003e8 0000 00000001")


def test_an_acknowledged_record_has_its_offset() -> None:
    (told,) = sent(answered(0, 4)).acknowledged
    assert (told.value, told.offset) == ("m0", 4)


@pytest.mark.parametrize("answer", [answered(6, -1), NotReached("the connection was closed")])
def test_a_rejected_record_is_not_sent_again(answer: dict[str, Any] | NotReached) -> None:
    sending = sent(answer)
    assert len(sending.refused) == 1
    assert sending.acknowledged == []
