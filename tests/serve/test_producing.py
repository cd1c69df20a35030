"""Produce: a leader of the model appends, and its acknowledgement, its rejection or its error is the response."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from epochfuzz.harness.serve.endpoint import respond
from epochfuzz.harness.serve.messages import ServedApi
from epochfuzz.harness.serve.served_cluster import ClientRole, ServedCluster
from epochfuzz.model.kafka.vocabulary.events import Verb
from tests.serve.asking import ask, ask_healthy, batch, cluster, frame, happen, only, produced, response_to

GZIP, TRANSACTIONAL = 1, 1 << 4


def log(served: ServedCluster, r: int) -> list[tuple[int, str]]:
    return [(epoch, payload.text) for epoch, payload in served.partition.entries(r)]


async def _sent_then(served: ServedCluster, data: bytes, *events: str) -> Any:
    """Send a record to A, and let events happen once A has appended it or has begun to wait."""
    asked = asyncio.create_task(response_to(served, 0, ServedApi.PRODUCE, ServedApi.PRODUCE.last, **produced(data)))
    for _ in range(3):
        await asyncio.sleep(0)
    assert not asked.done()
    happen(served, *events)
    return only(await asked)


def sent_then(served: ServedCluster, data: bytes, *events: str) -> Any:
    return asyncio.run(_sent_then(served, data, *events))


def code(served: ServedCluster, data: bytes, r: int = 0, **fields: Any) -> ErrorCode:
    return ErrorCode(only(ask_healthy(served, r, ServedApi.PRODUCE, **produced(data, **fields))).error_code)


def test_a_record_is_acknowledged_once_the_isr_has_it() -> None:
    served = cluster()
    told = sent_then(served, batch("hello"), "fetch B", "receive B", "fetch B")
    assert (told.error_code, told.base_offset) == (ErrorCode.none, 0)
    assert log(served, 1) == [(0, "hello")]


def test_a_waiting_request_fails_when_its_leader_learns_that_it_no_longer_leads() -> None:
    assert sent_then(cluster(), batch("m0"), "elect B", "notify A").error_code is ErrorCode.not_leader_or_follower


def test_a_waiting_request_fails_when_the_isr_has_become_too_small() -> None:
    served = cluster(replicas=3, min_insync_replicas=2, protocol="kip-320")
    told = sent_then(served, batch("m0"), "crash B", "crash C", "shrink B", "shrink C")
    assert told.error_code is ErrorCode.not_enough_replicas_after_append


def test_a_leader_rejects_a_record_while_the_isr_is_too_small() -> None:
    served = cluster(min_insync_replicas=2)
    sent_then(served, batch("m0"), "shrink B")
    rejected = only(ask(served, 0, ServedApi.PRODUCE, **produced(batch("m1"))))
    assert rejected.error_code is ErrorCode.not_enough_replicas
    assert log(served, 0) == [(0, "m0")]


def test_a_leader_that_metadata_do_not_name_rejects_a_record() -> None:
    served = cluster("elect B", "notify B")
    served.show(ClientRole.PRODUCER, 1)
    assert code(served, batch("m0"), r=0) is ErrorCode.not_leader_or_follower
    assert log(served, 0) == []


def test_a_follower_rejects_a_record() -> None:
    assert code(cluster(), batch("m0"), r=1) is ErrorCode.not_leader_or_follower


def test_a_record_of_an_idempotent_producer_is_appended_once() -> None:
    served = cluster()
    assert [code(served, batch("same", 0)), code(served, batch("same", 0))] == [ErrorCode.none] * 2
    assert [code(served, batch("same", 1))] == [ErrorCode.none]
    assert log(served, 0) == [(0, "same"), (0, "same")]


def test_a_waiting_record_that_is_sent_again_is_appended_once() -> None:
    served = cluster()

    async def twice() -> list[ErrorCode]:
        fields = produced(batch("m0", 0))
        asked = [asyncio.create_task(response_to(served, 0, ServedApi.PRODUCE, 9, **fields)) for _ in range(2)]
        await asyncio.sleep(0.01)
        served.partition.replicate()
        return [only(each).error_code for each in await asyncio.gather(*asked)]

    assert asyncio.run(twice()) == [ErrorCode.none] * 2
    assert log(served, 0) == [(0, "m0")]


def test_a_request_that_the_gate_holds_also_holds_the_next_request_of_its_producer() -> None:
    """Kafka's broker handles the requests of a connection in their order."""
    served = cluster("elect B", "notify B", protocol="kafka-2.6.1", is_free=False)
    served.show(ClientRole.PRODUCER, 0)

    async def both_at_b() -> list[tuple[int, str]]:
        served.partition.wake()
        fields = [produced(batch(f"m{number}", number)) for number in range(2)]
        served.gate.open(Verb.PRODUCE, 0)
        asked = [asyncio.create_task(response_to(served, 0, ServedApi.PRODUCE, 9, **fields[0]))]
        await asyncio.sleep(0.01)
        served.show(ClientRole.PRODUCER, 1)
        served.gate.open(Verb.PRODUCE, 1)  # for m1, but m0 is sent again before it
        asked += [asyncio.create_task(response_to(served, 1, ServedApi.PRODUCE, 9, **each)) for each in fields]
        await asyncio.sleep(0.01)
        held = log(served, 1)
        for each in asked:
            each.cancel()
        return held

    assert asyncio.run(both_at_b()) == []


def test_a_record_that_is_sent_again_with_a_new_producer_id_is_appended_again() -> None:
    served = cluster(protocol="kafka-2.6.1")
    waiting = asyncio.run(_two_waiting(served))
    assert waiting == [(0, "m0"), (0, "m1")]
    assert code(served, batch("m0", 0, producer=2)) is ErrorCode.none
    assert log(served, 0) == [(0, "m0"), (0, "m1"), (0, "m0")]


async def _two_waiting(served: ServedCluster) -> list[tuple[int, str]]:
    """Let two records wait at A, and lose their responses."""
    served.partition.wake()
    asked = [
        asyncio.create_task(response_to(served, 0, ServedApi.PRODUCE, 9, **produced(batch(f"m{number}", number))))
        for number in range(2)
    ]
    await asyncio.sleep(0.01)
    for each in asked:
        each.cancel()
    return log(served, 0)


def test_a_record_whose_response_was_lost_is_not_acknowledged() -> None:
    served = cluster()
    asyncio.run(_two_waiting(served))
    served.partition.lose_responses()
    served.partition.replicate()
    assert (served.partition.state.high_watermark[0], served.partition.state.acked) == (2, 0)
    assert [code(served, batch("m0", 0)), code(served, batch("m1", 1))] == [ErrorCode.none] * 2
    assert log(served, 0) == [(0, "m0"), (0, "m1")]


def test_a_record_without_a_sequence_number_is_appended_each_time() -> None:
    served = cluster()
    assert [code(served, batch("same")), code(served, batch("same"))] == [ErrorCode.none] * 2
    assert log(served, 0) == [(0, "same"), (0, "same")]


def test_a_leader_rejects_a_gap_in_the_sequence_numbers() -> None:
    served = cluster()
    assert code(served, batch("m0", 0)) is ErrorCode.none
    assert code(served, batch("m2", 2)) is ErrorCode.out_of_order_sequence_number


def test_a_leader_accepts_any_sequence_number_of_an_unknown_producer_since_kafka_2_5() -> None:
    old, new = cluster(protocol="kafka-2.4"), cluster(protocol="kafka-2.6.1")
    assert code(old, batch("m1", 1)) is ErrorCode.out_of_order_sequence_number
    assert [code(new, batch("m1", 1)), code(new, batch("m2", 2))] == [ErrorCode.none] * 2
    assert (log(old, 0), log(new, 0)) == ([], [(0, "m1"), (0, "m2")])


def test_a_leader_rejects_a_sequence_number_below_the_first_that_it_has_accepted() -> None:
    served = cluster(protocol="kafka-2.6.1")
    assert code(served, batch("m1", 1)) is ErrorCode.none
    assert code(served, batch("m0", 0)) is ErrorCode.out_of_order_sequence_number
    assert log(served, 0) == [(0, "m1")]


def test_a_new_leader_appends_a_record_of_a_producer_without_sequence_numbers() -> None:
    served = cluster(unclean_leader_election=True)
    sent_then(served, batch("m0"), "shrink B")
    happen(served, "crash A", "elect B", "notify B")
    assert code(served, batch("m1"), r=1) is ErrorCode.none
    assert log(served, 1) == [(1, "m1")]


def test_a_leader_rejects_a_request_with_other_acks_than_the_configuration() -> None:
    assert code(cluster(acks="1"), batch("m0"), acks=-1) is ErrorCode.invalid_required_acks
    assert code(cluster(acks="1"), batch("m0"), acks=1) is ErrorCode.none


def test_a_request_without_acknowledgement_has_no_response() -> None:
    served = cluster(acks="0")
    sent = frame(ServedApi.PRODUCE, 9, **produced(batch("m0"), acks=0))
    assert asyncio.run(respond(served, 0, sent)) is None
    assert log(served, 0) == [(0, "m0")]


def test_a_full_partition_rejects_a_record_with_the_reason() -> None:
    served = cluster(records=1, acks="1")
    assert code(served, batch("m0"), acks=1) is ErrorCode.none
    told = only(ask(served, 0, ServedApi.PRODUCE, **produced(batch("m1"), acks=1)))
    assert told.error_code is ErrorCode.policy_violation
    assert "room for a few records" in told.error_message


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (batch("m0", attributes=GZIP), ErrorCode.unsupported_compression_type),
        (batch("m0", attributes=TRANSACTIONAL), ErrorCode.invalid_txn_state),
        (batch("m0")[:-1] + b"x", ErrorCode.corrupt_message),
        (b"", ErrorCode.corrupt_message),
    ],
    ids=["compressed", "transactional", "wrong checksum", "empty"],
)
def test_a_batch_that_the_partition_cannot_hold_is_rejected(data: bytes, expected: ErrorCode) -> None:
    assert code(cluster(), data) is expected


def test_a_leader_rejects_a_record_for_an_unknown_topic() -> None:
    assert code(cluster(), batch("m0"), topic="other") is ErrorCode.unknown_topic_or_partition


def test_a_record_waits_until_the_schedule_admits_it() -> None:
    served = cluster(is_free=False)

    async def admitted() -> list[tuple[int, str]]:
        asked = asyncio.create_task(response_to(served, 0, ServedApi.PRODUCE, 9, **produced(batch("m0"))))
        await asyncio.sleep(0.01)
        before = log(served, 0)
        served.gate.open(Verb.PRODUCE, 0)
        served.partition.wake()
        await asyncio.sleep(0.01)
        asked.cancel()
        return before

    assert asyncio.run(admitted()) == []
    assert log(served, 0) == [(0, "m0")]


def test_a_transactional_producer_gets_no_producer_id() -> None:
    fields: dict[str, Any] = {"transactional_id": "t", "transaction_timeout": timedelta(seconds=60)}
    told = ask(cluster(), 0, ServedApi.INIT_PRODUCER_ID, **fields)
    assert told.error_code is ErrorCode.transactional_id_authorization_failed
