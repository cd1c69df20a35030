"""Frames from the bytes of a connection, and the kind and the broker of a request from its header."""

import pytest

from epochfuzz.harness.cluster.gates.frames import (
    Api,
    FrameError,
    Frames,
    Header,
    RequestKind,
    correlation,
    framed,
    header,
    source,
)

HEARTBEAT = bytes.fromhex("003f 0001 00000007 0001 32 00")  # api 63, version 1, number 7, of client 2


def test_frames_that_arrive_in_pieces_are_reassembled() -> None:
    sent = framed(b"one") + framed(b"") + framed(b"three")
    for size in range(1, len(sent) + 1):
        frames, found = Frames(), []
        for at in range(0, len(sent), size):
            found += frames.feed(sent[at : at + size])
        assert found == [b"one", b"", b"three"]


def test_a_frame_with_an_impossible_length_raises_an_error() -> None:
    for announced in ("ffffffff", "7fffffff"):
        with pytest.raises(FrameError, match="the frame has"):
            Frames().feed(bytes.fromhex(announced))


def test_a_request_header_has_the_api_key_the_version_the_correlation_and_the_client() -> None:
    assert header(HEARTBEAT) == Header(63, 1, 7, "2", 11)
    assert header(HEARTBEAT).size == 11
    assert header(bytes.fromhex("0012 0003 00000001 ffff")).client == ""
    assert correlation(bytes.fromhex("00000007 00")) == 7
    for short in (HEARTBEAT[:9], b""):
        with pytest.raises(FrameError):
            header(short)
    with pytest.raises(FrameError):
        correlation(b"\0")


@pytest.mark.parametrize(
    ("key", "client", "told"),
    [
        (Api.FETCH, "broker-2-fetcher-0", (RequestKind.FETCH, 2)),
        (Api.FETCH, "raft-client-3", (RequestKind.METADATA, 3)),
        (Api.FETCH, "epochfuzz", (RequestKind.OTHER, -1)),
        (Api.ALTER_PARTITION, "1", (RequestKind.ALTER, 1)),
        (Api.BROKER_HEARTBEAT, "1", (RequestKind.HEARTBEAT, 1)),
        (Api.API_VERSIONS, "broker-2-fetcher-0", (RequestKind.OTHER, 2)),
    ],
)
def test_the_api_key_and_the_client_identify_the_kind_and_the_broker_of_a_request(
    key: int, client: str, told: tuple[RequestKind, int]
) -> None:
    assert source(Header(key, 1, 1, client, 0)) == told
