"""`python -m tests.findings.librdkafka.rejected_record`: librdkafka reports a rejected record as acknowledged.

This runs one unpatched broker and librdkafka's idempotent producer, which sends two records in two requests. A proxy
between the two rejects the first request with NOT_LEADER_OR_FOLLOWER and forwards the second, like a broker that
becomes leader between two requests. The program prints the reports of the producer, and the log. The exit code is 0 if
the log lacks a record that was reported as acknowledged, 1 if the log has both records, and 2 if the program fails.
"""

import argparse
import socket
import sys
import threading
from contextlib import suppress
from io import BytesIO
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition, libversion
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from epochfuzz.harness.cluster.broker.cluster import HOST, free_ports
from epochfuzz.harness.cluster.broker.installation import DEFAULT_RELEASE, from_maven
from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.cluster.room import room
from epochfuzz.harness.serve.messages import entity
from tests.findings.kafka.restarted_leader import PATIENCE, PRODUCE, only_broker
from tests.findings.proxy import Proxy, frame_from

TOPIC = "t"
RECORDS = ("m0", "m1")
MOST_IN_FLIGHT = 5  # librdkafka's default and Kafka's for an idempotent producer
LOST, STORED, UNUSABLE = range(3)


class RejectingProxy(Proxy):
    """Forwards connections to a broker, but rejects the first Produce request.

    The proxy holds the first Produce request until `in_flight` Produce requests have arrived.
    """

    def __init__(self, port: int, broker: int, in_flight: int) -> None:
        self._in_flight = in_flight
        self._rejected = threading.Event()
        super().__init__(port, broker)

    def serve(self, client: socket.socket) -> None:
        """Forward one connection until the client or the broker closes it."""
        with client, suppress(OSError), socket.create_connection((HOST, self.broker)) as broker:
            threading.Thread(target=self._send, args=[client, broker], daemon=True).start()
            while response := frame_from(broker):
                client.sendall(response)
            client.shutdown(socket.SHUT_RDWR)

    def _send(self, client: socket.socket, broker: socket.socket) -> None:
        held: list[bytes] = []
        with suppress(OSError):
            while request := frame_from(client):
                if self._rejected.is_set() or int.from_bytes(request[4:6]) != PRODUCE:
                    broker.sendall(request)
                    continue
                held.append(request)
                if len(held) == self._in_flight:
                    self._rejected.set()
                    client.sendall(_rejection(held[0]))
                    for later in held[1:]:
                        broker.sendall(later)
            broker.shutdown(socket.SHUT_RDWR)


def _rejection(request: bytes) -> bytes:
    """Return the response to a Produce request that rejects all its records. Both have their size in front."""
    version = int.from_bytes(request[6:8])
    of_request: Any = load_request_schema(PRODUCE, version)
    of_response: Any = load_response_schema(PRODUCE, version)
    header, size = entity_reader(of_request.__header_schema__)(request[4:], 0)
    asked, _ = entity_reader(of_request)(request[4:], size)
    part: dict[str, Any] = {"index": 0, "error_code": ErrorCode.not_leader_or_follower, "base_offset": -1}
    part |= {"log_append_time": None, "log_start_offset": -1, "record_errors": [], "error_message": None}
    topics = [{"name": topic.name, "partition_responses": [part]} for topic in asked.topic_data]
    buffer = BytesIO()
    of_header = of_response.__header_schema__
    entity_writer(of_header)(buffer, of_header(correlation_id=header.correlation_id))
    entity_writer(of_response)(buffer, entity(of_response, {"responses": topics}))
    return len(buffer.getvalue()).to_bytes(4) + buffer.getvalue()


def main() -> int:
    """Run the broker and the producer, and print the reports and the log. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.findings.librdkafka.rejected_record", description=__doc__)
    parser.add_argument("--release", default=DEFAULT_RELEASE, help=f"of the broker; {DEFAULT_RELEASE} if left out")
    parser.add_argument("--one-in-flight", action="store_true", help="set max.in.flight to 1")
    given = parser.parse_args()
    try:
        reports, log = run(given.release, in_flight=1 if given.one_in_flight else MOST_IN_FLIGHT)
    except (ClusterError, KafkaException) as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    print(f"librdkafka {libversion()[0]}", *reports, f"the log has {', '.join(log)}", sep="\n")
    return STORED if set(log) == {*RECORDS} else LOST


def run(release: str, *, in_flight: int) -> tuple[list[str], list[str]]:
    """Send two records, of which the proxy rejects the first. Returns the producer's reports, and the log's values.

    Raises ClusterError and KafkaException.
    """
    with room() as directory:
        port, advertised, controller = free_ports(3)
        with only_broker(from_maven(release), directory, port, advertised, controller):
            RejectingProxy(advertised, port, min(in_flight, len(RECORDS)))
            address = f"{HOST}:{advertised}"
            return _produced(address, in_flight), _read(address)


def _produced(address: str, in_flight: int) -> list[str]:
    """Send the records at once, each in a request of its own. Returns the reports in their order."""
    reports: list[str] = []

    def report(error: object, message: Message) -> None:
        value = (message.value() or b"").decode()
        reports.append(f"{value} is reported as {f'failed: {error}' if error else 'acknowledged'}")

    settings = {"linger.ms": 0, "batch.num.messages": 1, "max.in.flight": in_flight, "log_level": 0}
    producer = Producer({"bootstrap.servers": address, "acks": "all", "enable.idempotence": True, **settings})
    for value in RECORDS:
        producer.produce(TOPIC, value, partition=0, on_delivery=report)
    if producer.flush(PATIENCE):
        raise ClusterError(f"the producer has not reported the outcome of each record within {PATIENCE:g} s")
    return reports


def _read(address: str) -> list[str]:
    """Return the values in the log, up to the high watermark."""
    consumer = Consumer({"bootstrap.servers": address, "group.id": "g", "enable.auto.commit": False, "log_level": 0})
    try:
        partition = TopicPartition(TOPIC, 0, 0)
        _, end = consumer.get_watermark_offsets(partition, timeout=PATIENCE)
        consumer.assign([partition])
        found = consumer.consume(end, PATIENCE)
        return [(message.value() or b"").decode() for message in found if not message.error()]
    finally:
        consumer.close()


if __name__ == "__main__":
    sys.exit(main())
