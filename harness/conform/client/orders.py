"""The orders to a client under test, and its reports: one line of JSON for each (docs/how-to/test-your-client.md)."""

import json
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic requires this TypedDict up to Python 3.11

from epochfuzz.harness.conform.protocol import wire


@with_config(ConfigDict(extra="forbid", strict=True))
class ClientReport(TypedDict):
    """The reply to an order: the acknowledged, failed and read records since the previous reply.

    Only the reply to `reset` may have an `error`: the reason why the client cannot run with these settings.
    """

    acked: Annotated[list[str], Field(description="values whose records were acknowledged")]
    failed: Annotated[list[str], Field(description="values whose records were reported as failed")]
    read: Annotated[list[str], Field(description="values that the consumer has read, in order")]
    error: NotRequired[str]


_REPORT: TypeAdapter[ClientReport] = TypeAdapter(ClientReport)


def parse_report(line: bytes) -> ClientReport:
    """Return the report of a client. Raises MalformedReply."""
    report: ClientReport = wire.parse(_REPORT, line)
    return report


def reset(bootstrap: str, topic: str, acks: str, *, idempotent: bool) -> bytes:
    """Return the order to start over: begin a producer, and a consumer of partition 0 of the topic from offset 0.

    `bootstrap` is the address of the endpoint that plays the brokers.
    """
    return _line(op="reset", bootstrap=bootstrap, topic=topic, acks=acks, idempotent=idempotent)


def send(value: str) -> bytes:
    """Return the order to send a record, without waiting for its acknowledgement."""
    return _line(op="send", value=value)


def poll(seconds: float) -> bytes:
    """Return the order to poll the consumer for at most `seconds`, or until it gets a record, and then to report."""
    return _line(op="poll", seconds=seconds)


def refresh() -> bytes:
    """Return the order that announces a new leader. The consumer learns the leader from metadata by itself.

    An adapter may restart its consumer at the old position, to test positions that an application assigns.
    """
    return _line(op="refresh")


def commit() -> bytes:
    """Return the order to commit the consumer's position, and to wait for the response.

    The commit includes the leader epoch of the position, if the client library has it.
    """
    return _line(op="commit")


def restart() -> bytes:
    """Return the order to close the consumer, and to start another one at the committed position."""
    return _line(op="restart")


def _line(**order: Any) -> bytes:
    return json.dumps(order).encode() + b"\n"
