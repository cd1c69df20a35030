"""Fetch: a consumer reads the model's records up to the high watermark, and learns where its log diverges."""

import asyncio
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from epochfuzz.harness.serve.endpoint import respond
from epochfuzz.harness.serve.messages import ServedApi
from epochfuzz.harness.serve.served_cluster import ServedCluster
from epochfuzz.model.kafka.vocabulary.events import Verb
from tests.serve.asking import ask, batch, cluster, fetched, frame, happen, only, produced, response_to, values_in


def written(*events: str, count: int = 1, **settings: Any) -> ServedCluster:
    """Return a cluster whose replicas have committed records m0, m1, ..., after some further events."""
    served = cluster(**settings)

    async def write() -> None:
        for number in range(count):
            fields = produced(batch(f"m{number}", number), acks=1 if settings.get("acks") == "1" else -1)
            asked = asyncio.create_task(response_to(served, 0, ServedApi.PRODUCE, 9, **fields))
            await asyncio.sleep(0.01)
            served.partition.replicate()
            await asked

    asyncio.run(write())
    happen(served, *events)
    return served


def part(served: ServedCluster, r: int, offset: int, **fields: Any) -> Any:
    return only(ask(served, r, ServedApi.FETCH, **fetched(offset, **fields)))


def append(served: ServedCluster, r: int, value: str) -> None:
    """Let leader r append a record that is not committed yet."""

    async def send() -> None:
        asked = asyncio.create_task(response_to(served, r, ServedApi.PRODUCE, 9, **produced(batch(value))))
        await asyncio.sleep(0.01)
        asked.cancel()

    asyncio.run(send())


def test_a_consumer_reads_up_to_the_high_watermark() -> None:
    served = written(count=2)
    append(served, 0, "m2")
    read = part(served, 0, 0)
    assert values_in(read.records) == [(0, 0, "m0"), (1, 0, "m1")]
    assert (read.high_watermark, read.error_code) == (2, ErrorCode.none)


def test_a_record_has_the_leader_epoch_that_it_was_written_in() -> None:
    served = written("crash A", "elect B", "notify B")
    append(served, 1, "m1")
    assert values_in(part(served, 1, 1).records) == [(1, 1, "m1")]


def test_a_fetch_waits_for_a_record() -> None:
    served = cluster()

    async def waits() -> Any:
        asked = asyncio.create_task(response_to(served, 0, ServedApi.FETCH, 12, **fetched(0, wait=5.0)))
        await asyncio.sleep(0.01)
        assert not asked.done()
        sent = asyncio.create_task(response_to(served, 0, ServedApi.PRODUCE, 9, **produced(batch("m0"))))
        await asyncio.sleep(0.01)
        assert not asked.done()
        served.partition.replicate()
        await sent
        return only(await asked)

    assert values_in(asyncio.run(waits()).records) == [(0, 0, "m0")]


def test_a_fetch_without_records_returns_after_its_maximum_wait() -> None:
    assert part(cluster(), 0, 0, wait=0.01).records == b""


def test_the_leader_rejects_a_fetch_with_an_earlier_or_a_later_leader_epoch() -> None:
    served = written("elect B", "notify B")
    assert part(served, 1, 0, epoch=0).error_code is ErrorCode.fenced_leader_epoch
    assert part(served, 1, 0, epoch=2).error_code is ErrorCode.unknown_leader_epoch
    assert part(served, 1, 0, epoch=1).error_code is ErrorCode.none


def test_an_offset_beyond_the_log_is_out_of_range() -> None:
    assert part(written(), 0, 2).error_code is ErrorCode.offset_out_of_range


def test_a_deleted_offset_is_out_of_range_and_reading_continues_from_the_log_start() -> None:
    served = written("trim A", count=2, acks="1", retention=True)
    assert part(served, 0, 0).error_code is ErrorCode.offset_out_of_range
    read = part(served, 0, 1)
    assert (read.log_start_offset, values_in(read.records)) == (1, [(1, 0, "m1")])


def test_a_consumer_that_read_truncated_records_learns_where_its_log_diverges() -> None:
    served = cluster(unclean_leader_election=True)
    append(served, 0, "m0")
    happen(served, "shrink B", "crash A", "elect B", "notify B")
    append(served, 1, "m1")
    diverging = part(served, 1, 1, epoch=1, last_epoch=0).diverging_epoch
    assert (diverging.epoch, diverging.end_offset) == (0, 0)


def test_a_follower_serves_consumers_only_if_the_configuration_allows_follower_reads() -> None:
    assert part(written(), 1, 0).error_code is ErrorCode.not_leader_or_follower
    assert values_in(part(written(follower_reads=True), 1, 0).records) == [(0, 0, "m0")]


def test_the_leader_sends_a_consumer_to_the_follower_of_the_schedule() -> None:
    served = written(count=2, follower_reads=True)
    served.gate.is_free = False
    served.gate.open(Verb.CONSUME, 1)
    assert part(served, 0, 0).preferred_read_replica == 1
    assert values_in(part(served, 1, 0).records) == [(0, 0, "m0")]


def test_an_event_of_a_schedule_admits_one_record() -> None:
    served = written(count=2)
    served.gate.is_free = False
    served.gate.open(Verb.CONSUME, 0)
    assert values_in(part(served, 0, 0).records) == [(0, 0, "m0")]
    assert part(served, 0, 1).records == b""


def test_a_broker_that_dies_sends_no_response() -> None:
    served = cluster()

    async def dies() -> None:
        asked = asyncio.create_task(respond(served, 0, frame(ServedApi.FETCH, 12, **fetched(0, epoch=0, wait=5.0))))
        await asyncio.sleep(0.01)
        happen(served, "crash A")
        with pytest.raises(ConnectionAbortedError):
            await asked

    asyncio.run(dies())
