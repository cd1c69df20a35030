"""Send a produce request to one broker, without the retries of a client library.

librdkafka resends a record by itself, and to another broker if the leader has changed. `retries=0` does not prevent
that. In a schedule, a resend is an event of its own.
"""

import struct
import threading
import time
import uuid

from epochfuzz.harness.cluster.broker.clients import NotAcknowledged
from epochfuzz.harness.cluster.errors import NotReached
from epochfuzz.harness.cluster.gates.frames import Api
from epochfuzz.harness.cluster.gates.requests import Caller
from epochfuzz.harness.cluster.record_format.batches import crc32c
from epochfuzz.harness.cluster.record_format.fields import zigzag
from epochfuzz.harness.documents.cluster_records import Acknowledged

_ANSWERED_WITHIN = 300.0  # seconds: a producer waits for the whole schedule
_ACKS = {"all": -1, "0": 0, "1": 1}
_PRODUCER = 1000


class Sending:
    """A produce request with one record, sent on a thread of its own.

    When the request has ended, either `acknowledged` or `refused` has one element. `sequence` is the sequence number of
    an idempotent producer, or None for a producer without idempotence.
    """

    def __init__(
        self, caller: Caller, topic: tuple[str, uuid.UUID], value: str, acks: str, sequence: int | None
    ) -> None:
        self.acknowledged: list[Acknowledged] = []
        self.refused: list[NotAcknowledged] = []
        self._caller, self._topic, self._value, self._acks = caller, topic, value, acks
        self._sequence = sequence
        threading.Thread(target=self._send, daemon=True).start()

    def _send(self) -> None:
        name, number = self._topic
        part = {"Index": 0, "Records": batch(self._value.encode(), int(time.time() * 1000), self._sequence)}
        topic = {"Name": name, "TopicId": number, "PartitionData": [part]}
        asked = {
            "TransactionalId": None,
            "Acks": _ACKS[self._acks],
            "TimeoutMs": int(_ANSWERED_WITHIN * 1000),
            "TopicData": [topic],
        }
        try:
            answer = self._caller.call(Api.PRODUCE, asked, _ANSWERED_WITHIN)
        except NotReached as error:
            self.refused.append(NotAcknowledged(self._value, str(error), time.time()))
            return
        (told,) = (part for topic in answer["Responses"] for part in topic["PartitionResponses"])
        if told["ErrorCode"]:
            self.refused.append(NotAcknowledged(self._value, f"error {told['ErrorCode']}", time.time()))
        else:
            self.acknowledged.append(Acknowledged(self._value, 0, told["BaseOffset"], time.time()))


def batch(value: bytes, timestamp: int, sequence: int | None = None) -> bytes:
    """Return the bytes of a batch with one record: https://kafka.apache.org/documentation/#recordbatch.

    `timestamp` is in milliseconds. With a `sequence` number, the batch has a fixed producer id, as from an idempotent
    producer.
    """
    producer = (-1, -1, -1) if sequence is None else (_PRODUCER, 0, sequence)
    body = b"\0" + zigzag(0) + zigzag(0) + zigzag(-1) + zigzag(len(value)) + value + zigzag(0)
    record = zigzag(len(body)) + body
    # attributes, lastOffsetDelta, baseTimestamp, maxTimestamp, producerId, producerEpoch, baseSequence, records
    checked = struct.pack(">hiqqqhii", 0, 0, timestamp, timestamp, *producer, 1) + record
    # partitionLeaderEpoch, magic, crc
    rest = struct.pack(">ibI", -1, 2, crc32c(checked)) + checked
    return struct.pack(">qi", 0, len(rest)) + rest
