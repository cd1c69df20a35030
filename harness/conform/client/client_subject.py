"""A Kafka client as the system under test: the model plays the brokers, at an endpoint that the client connects to.

An event of a broker or of the controller changes the served model. For an event of the client, the client gets orders,
and the event happens when the client's request arrives. An observation shows the replicas of the served model, and the
client's own view of acknowledgements and of its consumer.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from epochfuzz.harness.conform.client import orders
from epochfuzz.harness.conform.client.client_process import ClientProcess
from epochfuzz.harness.conform.client.ending import check_acknowledgements, check_end, is_at_end
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable
from epochfuzz.harness.conform.protocol.wire import Config, Observation
from epochfuzz.harness.serve import client_events, schedule
from epochfuzz.harness.serve.listeners import Listeners
from epochfuzz.harness.serve.served_cluster import ClientRole, ServedCluster
from epochfuzz.harness.serve.served_partition import ServedPartition
from epochfuzz.model.kafka.contract.observation import observe, record_ids
from epochfuzz.model.kafka.storage import idempotence
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, VERBS, Verb, parse_event, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

_TOPIC = "epochfuzz"
_POLL = 0.1  # seconds, about the time in which a client refreshes its metadata
_PATIENCE = 2.0  # seconds for a client's request; adapters let clients refresh metadata and reconnect much faster
_REPORTING = 0.5  # seconds for the report of an acknowledgement that the client has received
# Events that a client does not play. A producer bumps its epoch by itself, for example.
_UNSUPPORTED = (Verb.COMMIT, Verb.ABORT, Verb.BUMP, Verb.BEGIN, Verb.DELAY, Verb.ARRIVE, Verb.MARK)


class ClientSubject:
    """A client process that follows orders, and the Kafka-compatible endpoint that the client connects to."""

    def __init__(self, command: Sequence[str], patience: float) -> None:
        self._client = ClientProcess(command, patience)
        self._patience = patience
        self._runner = asyncio.Runner()
        self._listeners: Listeners | None = None
        self._sent = 0
        self._awaited: set[str] = set()  # acknowledged values whose reports were waited for
        self.complaints: list[str] = []  # about requests that the endpoint does not offer

    def __enter__(self) -> "ClientSubject":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        """True if the client's process runs and has received an order."""
        return self._client.is_running

    def reset(self, config: Config, protocol: str) -> list[str]:
        """Serve an empty partition, and let the client start over. Returns the supported verbs.

        Raises SubjectFailed, SubjectUnable and CommandError.
        """
        settings = Configuration(**config)
        if settings.transactions:
            raise SubjectUnable("transactions can't be served yet")
        partition = ServedPartition(parse_protocol(protocol), settings)
        self._runner.run(self._reset(ServedCluster.of_schedule(partition, _TOPIC), settings.acks))
        return [verb for verb in VERBS if Verb[verb.upper()] not in _UNSUPPORTED]

    def apply(self, event: str) -> bool:
        """Apply an event, and return whether the event happened.

        Raises SubjectFailed, also if the client has reported an acknowledgement that no leader has sent.
        """
        return self._runner.run(self._apply(parse_event(event)))

    def observe(self) -> Observation:
        """Return the replicas of the served model, and the acknowledgements and reads that the client has reported."""
        cluster = self._cluster
        p = cluster.partition.state
        shown: dict[str, Any] = observe(p)
        for r in range(p.replicas):
            entries = cluster.partition.entries(r)
            shown["replicas"][REPLICA_NAMES[r]]["log"] = [[payload.text, epoch] for epoch, payload in entries]
        shown["consumer"] = {
            "position": self._position,
            "leader_epoch": cluster.told.get(ClientRole.CONSUMER, (0, 0))[1],
            "delivered": sorted(set(self._client.read)),
        }
        shown["producers"] = {"acked": sorted(self._client.acked)}
        return wire.check_observation(shown)

    def finish(self) -> None:
        """Make the partition healthy, let the client finish, and check its reports. Raises SubjectFailed."""
        self._runner.run(self._finish())

    def close(self) -> None:
        """End the client and the endpoint."""
        self._client.close()
        if self._listeners is not None:
            self._runner.run(self._listeners.close())
        self._runner.close()

    @property
    def _cluster(self) -> ServedCluster:
        assert self._listeners is not None, "reset it first"
        return self._listeners.cluster

    async def _reset(self, cluster: ServedCluster, acks: str) -> None:
        p = cluster.partition.state
        if self._listeners is not None and len(self._cluster.ports) != p.replicas:
            await self._listeners.close()
            self._listeners = None
        if self._listeners is None:
            self._listeners = Listeners(cluster, self.complaints.append)
            await self._listeners.start()
        else:
            await self._listeners.replace(cluster)
        self._sent = 0
        self._awaited = set()
        is_idempotent = bool(idempotence.is_on(p))  # a compiled rule returns a number
        report = await self._client.follow(orders.reset(cluster.bootstrap, _TOPIC, acks, idempotent=is_idempotent))
        self._client.forget()
        if "error" in report:
            raise SubjectUnable(report["error"])

    async def _apply(self, event: int) -> bool:
        if verb_of(event) in client_events.ROLES:
            is_applied = not client_events.why_not(self._cluster, event) and await self._let_client(event)
        else:
            assert self._listeners is not None
            is_applied = not await schedule.apply(self._listeners, event)
        await self._collect_acknowledgements()
        check_acknowledgements(self._cluster, self._client)
        return is_applied

    async def _let_client(self, event: int) -> bool:
        """Let the client cause an event. Returns whether the client's request arrived in time."""
        assert self._listeners is not None
        cluster, verb, passed = self._cluster, verb_of(event), self._cluster.gate.passed
        if verb is Verb.COMMIT_OFFSET:
            return await self._let_commit()
        if verb in (Verb.REFRESH, Verb.RESET):
            # Show the leader before the order, so that a restarted consumer doesn't learn the earlier leader.
            cluster.show(ClientRole.CONSUMER, replica_of(event))
            await self._client.follow(orders.refresh() if verb is Verb.REFRESH else orders.restart())
        has_come = await self._while_polling(client_events.steer(self._listeners, event))
        if has_come:
            if verb is Verb.PRODUCE and self._sent == cluster.partition.state.produced:
                # Wait until the producer knows the leader. If the record went to the former leader, its response
                # would come after the responses of all earlier records.
                await self._poll_until(lambda: cluster.is_up_to_date(ClientRole.PRODUCER), _REPORTING)
                await self._client.follow(orders.send(f"m{self._sent}"))
                self._sent += 1
            read, position = len(self._client.read), self._position
            has_come = await self._while_polling(client_events.happened(cluster, event, passed))
            if verb is Verb.CONSUME and has_come:
                await self._poll_until(lambda: len(self._client.read) > read, _PATIENCE)
                await self._poll_until(lambda: self._position > position, _REPORTING)
        cluster.gate.close()
        return has_come

    async def _let_commit(self) -> bool:
        """Let the consumer commit its position. Returns whether the commit arrived in time."""
        cluster, before = self._cluster, self._cluster.commits_received
        await self._client.follow(orders.commit())
        return await self._poll_until(lambda: cluster.commits_received > before, _REPORTING)

    @property
    def _position(self) -> int:
        """The offset of the consumer's last fetch. It is 0 if there was no fetch since the last refresh or reset."""
        last = self._cluster.last_fetch
        return 0 if last is None else last.offset

    async def _while_polling(self, waiting: Awaitable[None]) -> bool:
        """Poll the client until `waiting` is done. Returns whether `waiting` was done within the time limit."""
        task = asyncio.ensure_future(waiting)
        try:
            await asyncio.sleep(0)  # `waiting` may be done already
            return await self._poll_until(task.done, _PATIENCE)
        finally:
            task.cancel()

    async def _poll_until(self, holds: Callable[[], bool], seconds: float) -> bool:
        """Poll the client until a condition holds, for at most `seconds`. Returns whether the condition holds."""
        deadline = time.monotonic() + seconds
        while not holds() and time.monotonic() < deadline:
            await self._client.follow(orders.poll(_POLL))
        return holds()

    async def _collect_acknowledgements(self) -> None:
        """Wait for some time until the client has reported the outcome of all records that the model acknowledged."""
        partition = self._cluster.partition
        acked = {partition.payloads[number].text for number in record_ids(partition.state.acked)}
        if not acked <= self._awaited:
            self._awaited |= acked
            await self._poll_until(lambda: acked <= self._client.acked | self._client.failed, _REPORTING)

    async def _finish(self) -> None:
        assert self._listeners is not None
        cluster = self._cluster
        cluster.shown.clear()
        cluster.gate.is_free = True
        healthy = asyncio.create_task(schedule.keep_healthy(self._listeners))
        try:
            cluster.partition.wake()
            await self._poll_until(lambda: is_at_end(cluster, self._client, self._sent), self._patience)
        finally:
            healthy.cancel()
        check_end(cluster, self._client, self._sent, self.complaints)
