"""Send admin and fetch requests to a node in Kafka's wire protocol, including requests that client libraries lack.

Each request has the newest version that the release supports.
"""

import socket
import uuid
from typing import Any

from epochfuzz.harness.cluster.broker.segments import batches
from epochfuzz.harness.cluster.errors import NotReached
from epochfuzz.harness.cluster.gates.frames import Api, Frames, framed
from epochfuzz.harness.cluster.gates.schema import Messages

_CLIENT = "epochfuzz"
_ANSWERS_WITHIN = 20.0  # seconds
_PREFERRED, _UNCLEAN = 0, 1
_READS = 1 << 20  # bytes


class Caller:
    """Sends requests to the node that listens on a port of this machine."""

    def __init__(self, messages: Messages, port: int) -> None:
        self._messages, self._port = messages, port

    def call(self, key: int, values: dict[str, Any], seconds: float = _ANSWERS_WITHIN) -> dict[str, Any]:
        """Send a request, and return the decoded response. `key` is the API key.

        Raises NotReached if no response arrives within `seconds`.
        """
        asked, answered = self._messages.requests[key], self._messages.responses[key]
        version = asked.latest
        flexible = version in asked.flexible
        client = _CLIENT.encode()
        head = b"".join(number.to_bytes(size, "big") for number, size in ((key, 2), (version, 2), (1, 4)))
        head += len(client).to_bytes(2, "big") + client + (b"\0" if flexible else b"")
        body = self._exchange(framed(head + asked.encode(values, version)), asked.name, seconds)
        return answered.decode(body[4 + flexible :], version)

    def _exchange(self, sent: bytes, what: str, seconds: float) -> bytes:
        frames = Frames()
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=seconds) as connection:
                connection.sendall(sent)
                while data := connection.recv(1 << 16):
                    for body in frames.feed(data):
                        return body
        except OSError as error:
            raise NotReached(f"{what}: no response: {error}") from None
        raise NotReached(f"{what}: the connection was closed")

    def create_topic(self, name: str, replicas: list[int], settings: dict[str, str]) -> None:
        """Create a topic with one partition, on the brokers with the node ids `replicas`.

        Raises NotReached if the controller rejects the request.
        """
        topic = {
            "Name": name,
            "NumPartitions": -1,
            "ReplicationFactor": -1,
            "Assignments": [{"PartitionIndex": 0, "BrokerIds": replicas}],
            "Configs": [{"Name": key, "Value": value} for key, value in settings.items()],
        }
        (answer,) = self.call(Api.CREATE_TOPICS, {"Topics": [topic], "timeoutMs": 10_000})["Topics"]
        if answer["ErrorCode"]:
            raise NotReached(
                f"the controller did not create topic {name}: {answer['ErrorMessage'] or answer['ErrorCode']}"
            )

    def delete_topic(self, topic: uuid.UUID) -> None:
        """Ask the controller to delete a topic. An error in the response is ignored."""
        self.call(Api.DELETE_TOPICS, {"Topics": [{"Name": None, "TopicId": topic}], "TimeoutMs": 10_000})

    def order(self, topic: str, replicas: list[int]) -> None:
        """Reorder the replicas of partition 0, so that the first of them becomes the preferred leader.

        Raises NotReached if the controller rejects the request.
        """
        partitions = [{"PartitionIndex": 0, "Replicas": replicas}]
        asked = {"TimeoutMs": 10_000, "Topics": [{"Name": topic, "Partitions": partitions}]}
        answer = self.call(Api.ALTER_PARTITION_REASSIGNMENTS, asked)
        for each in (answer, *(part for found in answer["Responses"] for part in found["Partitions"])):
            if each["ErrorCode"]:
                raise NotReached(
                    f"the controller rejected the new order of replicas: {each['ErrorMessage'] or each['ErrorCode']}"
                )

    def elect(self, topic: str, unclean: bool) -> str:
        """Ask the controller to elect the preferred leader of partition 0, or with `unclean` any live replica.

        Returns the error as text, or an empty text if the controller has elected a leader. An unclean election requires
        that no replica of the ISR is alive.
        """
        kind = _UNCLEAN if unclean else _PREFERRED
        wanted = [{"Topic": topic, "Partitions": [0]}]
        answer = self.call(Api.ELECT_LEADERS, {"ElectionType": kind, "TopicPartitions": wanted, "TimeoutMs": 10_000})
        for found in answer["ReplicaElectionResults"]:
            for part in found["PartitionResult"]:
                return str(part["ErrorMessage"] or part["ErrorCode"]) if part["ErrorCode"] else ""
        return f"error {answer['ErrorCode']}"

    def read(self, topic: uuid.UUID, name: str) -> list[tuple[int, str]]:
        """Return (offset, value) for each record of partition 0 below the broker's high watermark."""
        found: list[tuple[int, str]] = []
        partition = {"Partition": 0, "FetchOffset": 0, "PartitionMaxBytes": _READS}
        asked = {"Topics": [{"TopicId": topic, "Topic": name, "Partitions": [partition]}], "MaxBytes": _READS}
        answer = self.call(Api.FETCH, asked)
        for part in (part for each in answer["Responses"] for part in each["Partitions"]):
            for batch in batches(part["Records"] or b""):
                if not batch.is_control and not part["ErrorCode"]:
                    below = (each for each in batch.records() if each[0] < part["HighWatermark"])
                    found += [(offset, value.decode(errors="replace")) for offset, value in below]
        return found
