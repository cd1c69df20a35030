"""The gates of a cluster: they decide which messages the proxies hold, and which they forward."""

import threading
import uuid
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from epochfuzz.harness.cluster.broker.segments import batches
from epochfuzz.harness.cluster.gates.frames import RequestKind
from epochfuzz.harness.cluster.gates.proxy import Connection, ProxiedMessage, Proxy
from epochfuzz.harness.cluster.gates.schema import Definition, Messages

_FLEXIBLE_HEADERS = 1  # bytes of an empty list of tagged fields


class Gates:
    """The proxies of a cluster and their gates. Each gate is for one kind of request from one broker.

    Methods take the kind of request and the broker's node id `number`. A shut gate holds messages. The gates of
    follower fetches and of ISR proposals hold requests and responses. The heartbeat gate holds requests. The metadata
    gate holds a broker's metadata fetch if the offset of the fetch is not below the broker's limit. This gate also
    removes the batches at and above the limit from the responses. The controller itself may send fewer batches than it
    has, because a response is limited in size.
    """

    def __init__(self, messages: Messages) -> None:
        self.lock = threading.RLock()
        self.proxies: dict[str, Proxy] = {}
        self.applied: dict[int, int] = {}  # for each broker, the metadata offset in its last heartbeat
        self._messages = messages
        self._shut: set[tuple[RequestKind, int]] = set()
        self._limits: dict[int, int] = {}
        self._epochs: WeakKeyDictionary[Connection, dict[uuid.UUID, int]] = WeakKeyDictionary()

    def before(self, target: str) -> None:
        """Start a proxy in front of the node `target`."""
        self.proxies[target] = Proxy(target, self.lock, self._is_held)

    def close(self) -> None:
        """Close all proxies and their connections."""
        for proxy in self.proxies.values():
            proxy.close()

    def shut(self, kind: RequestKind, number: int) -> None:
        """Shut a gate. The gate then holds the messages that arrive."""
        with self.lock:
            self._shut.add((kind, number))

    def open(self, kind: RequestKind, number: int) -> None:
        """Open a gate: forward its held messages and all later ones."""
        with self.lock:
            self._shut.discard((kind, number))
            self._limits.pop(number, None) if kind is RequestKind.METADATA else None
            self._pass_what_may()

    def is_shut(self, kind: RequestKind, number: int) -> bool:
        """Return whether a gate is shut."""
        with self.lock:
            return (kind, number) in self._shut

    def limit(self, number: int, offset: int) -> None:
        """Let a broker learn the metadata below an offset, while its metadata gate is shut."""
        with self.lock:
            self._limits[number] = offset
            self._pass_what_may()

    def held(self, kind: RequestKind, number: int, is_response: bool = False) -> list[ProxiedMessage]:
        """Return the messages that a gate holds and could forward next: the first message of each connection."""
        with self.lock:
            found = [message for message in self._heads() if (message.kind, message.number) == (kind, number)]
            return [message for message in found if message.is_response is is_response]

    def has(self, kind: RequestKind, number: int) -> bool:
        """Return whether a gate holds a request or a response."""
        return bool(self.held(kind, number) or self.held(kind, number, is_response=True))

    def pass_(self, message: ProxiedMessage) -> None:
        """Forward a held message. Does nothing if its connection is closed."""
        with self.lock:
            if not message.connection.is_closed:
                message.connection.pass_(message)

    def drop(self, message: ProxiedMessage) -> None:
        """Drop a held message by closing its connection."""
        with self.lock:
            message.connection.close()

    def forget(self, number: int) -> None:
        """Close the connections that hold messages of a broker, because this broker is down."""
        with self.lock:
            for message in list(self._heads()):
                if message.number == number:
                    message.connection.close()

    def content(self, message: ProxiedMessage) -> dict[str, Any]:
        """Return the decoded fields of a message."""
        return self._definition(message).decode(message.body[self._header_size(message) :], message.asked.version)

    def asked(self, message: ProxiedMessage) -> dict[str, Any]:
        """Return the decoded fields of the request that a response belongs to."""
        definition = self._messages.requests[message.asked.key]
        tags = _FLEXIBLE_HEADERS if message.asked.version in definition.flexible else 0
        return definition.decode(message.request[message.asked.size + tags :], message.asked.version)

    def asked_epoch(self, message: ProxiedMessage, topic: uuid.UUID) -> int | None:
        """Return the leader epoch that a follower sends in its fetch of a topic. None without such a fetch.

        In a fetch session, a request lists only the partitions that changed (KIP-227). The epoch of an unchanged
        partition is in an earlier request of the same connection.
        """
        return self._epochs.get(message.connection, {}).get(topic)

    def error(self, answer: ProxiedMessage) -> int:
        """Return the first error code in the response to a fetch or to an ISR proposal, or 0."""
        content = self.content(answer)
        topics = content["Topics" if answer.kind is RequestKind.ALTER else "Responses"]
        parts = [part for topic in topics for part in topic["Partitions"]]
        return next((int(each["ErrorCode"]) for each in (content, *parts) if each["ErrorCode"]), 0)

    def describe(self, answer: ProxiedMessage) -> str:
        """Return the content of a fetch response as text, such as `2 records, high watermark 1`."""
        for part in (part for topic in self.content(answer)["Responses"] for part in topic["Partitions"]):
            if part["DivergingEpoch"]:
                diverging = part["DivergingEpoch"]
                return f"epoch {diverging['Epoch']} ends at offset {diverging['EndOffset']}"
            count = sum(len(batch.records()) for batch in batches(part["Records"] or b""))
            return f"{count} records, high watermark {part['HighWatermark']}"
        return "nothing new"

    def _note(self, message: ProxiedMessage) -> None:
        """Record the metadata offset that a heartbeat contains, or the leader epochs that a fetch contains."""
        if message.kind is RequestKind.HEARTBEAT:
            self.applied[message.number] = self.content(message)["CurrentMetadataOffset"]
        if message.kind is RequestKind.FETCH:
            known = self._epochs.setdefault(message.connection, {})
            content = self.content(message)
            for topic in content["ForgottenTopicsData"]:
                known.pop(topic["TopicId"], None)
            for topic in content["Topics"]:
                for part in topic["Partitions"]:
                    known[topic["TopicId"]] = part["CurrentLeaderEpoch"]

    def _is_held(self, message: ProxiedMessage) -> bool:
        if not message.is_response:
            self._note(message)
        if (message.kind, message.number) not in self._shut:
            return False
        if message.kind is RequestKind.METADATA:
            if message.is_response:
                self._cut(message)
                return False
            return self.fetch_offset(message) >= self._limits.get(message.number, 0)
        return not message.is_response or message.kind in (RequestKind.FETCH, RequestKind.ALTER)

    def fetch_offset(self, message: ProxiedMessage) -> int:
        """Return the first offset that a metadata fetch requests."""
        return int(self.content(message)["Topics"][0]["Partitions"][0]["FetchOffset"])

    def _cut(self, message: ProxiedMessage) -> None:
        """Remove the batches at and above the broker's limit from a metadata response."""
        content = self.content(message)
        limit = self._limits.get(message.number, 0)
        for topic in content["Responses"]:
            for partition in topic["Partitions"]:
                kept = [batch.data for batch in batches(partition["Records"] or b"") if batch.offset < limit]
                partition["Records"] = b"".join(kept)
        size = self._header_size(message)
        message.body = message.body[:size] + self._definition(message).encode(content, message.asked.version)

    def _definition(self, message: ProxiedMessage) -> Definition:
        key = message.asked.key
        return self._messages.responses[key] if message.is_response else self._messages.requests[key]

    def _header_size(self, message: ProxiedMessage) -> int:
        """Return the size of a message's header in bytes.

        In a flexible version, the header ends with one byte, an empty list of tagged fields.
        """
        flexible = message.asked.version in self._definition(message).flexible
        return (4 if message.is_response else message.asked.size) + (_FLEXIBLE_HEADERS if flexible else 0)

    def _heads(self) -> Iterator[ProxiedMessage]:
        for proxy in self.proxies.values():
            for connection in list(proxy.connections):
                for waiting in connection.held.values():
                    yield from list(waiting)[:1]

    def _pass_what_may(self) -> None:
        for message in list(self._heads()):
            if not self._is_held(message):
                message.connection.pass_(message)
