"""The conformance protocol, version 1: one JSON object a line, one reply to each request (docs/conformance.md).

These types are what replies are validated against and what the JSON schema is generated from. A key that version 1 does
not know is let through, and named in the summary of a run: it is either a misspelling or meant for somebody else.
"""

import json
from dataclasses import asdict
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict  # pydantic wants this one up to Python 3.11

from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import VERBS

VERSION: Literal[1] = 1

ReplicaName = Literal["A", "B", "C", "D", "E"]
Verb = Annotated[str, Field(json_schema_extra={"enum": list(VERBS)})]

_open = with_config(ConfigDict(extra="allow", strict=True))


class Malformed(ValueError):
    """A reply that is not of the protocol; the message says where and why."""


@_open
class ReplicaObservation(TypedDict, total=False):
    """What can be seen of one replica. A field that is left out is not compared."""

    up: Annotated[bool, Field(description="whether the process runs")]
    leo: Annotated[int, Field(description="log end offset: the offset of the next record")]
    hw: Annotated[int, Field(description="high watermark; of a process that is down, the one it would restart with")]
    log: Annotated[list[tuple[str, int]], Field(description="by offset: the record, m0, m1, ..., and its leader epoch")]
    epochs: Annotated[list[tuple[int, int]], Field(description="leader epoch cache: epoch and start offset")]
    leader: Annotated[ReplicaName | None, Field(description="whom it takes for the leader; null for nobody")]
    leader_epoch: Annotated[int | None, Field(description="the epoch of the latest decision that it learned")]


@_open
class ControllerObservation(TypedDict, total=False):
    """The controller's current decision. A field that is left out is not compared."""

    leader: ReplicaName | None
    epoch: int
    isr: Annotated[list[ReplicaName], AfterValidator(sorted), Field(description="in any order")]


@_open
class Observation(TypedDict, total=False):
    """What can be seen of a partition after an event. A field that is left out is not compared."""

    replicas: dict[ReplicaName, ReplicaObservation]
    controller: ControllerObservation


class Config(TypedDict):
    """The settings of the partition; all of them are sent. See the settings of a case file."""

    replicas: int
    acks: Literal["0", "1", "all"]
    min_insync_replicas: int
    unclean_leader_election: bool
    power_loss: Annotated[bool, Field(description="power_loss and flush may be sent")]
    asynchronous_checkpoint: Annotated[
        bool, Field(description="the high watermark reaches the disk by checkpoint only")
    ]
    records_per_fetch: int
    records: Annotated[int, Field(description="no more than that many records will be produced")]
    epochs: Annotated[int, Field(description="the leader epoch will not change more often")]


class ResetRequest(TypedDict):
    """Start over: empty disks, all replicas up, A leads epoch 0 with everyone in the ISR, and everyone knows it."""

    op: Literal["reset"]
    version: Literal[1]
    protocol: str
    config: Config


class EventRequest(TypedDict):
    """Apply one event, such as `fetch B`."""

    op: Literal["event"]
    event: str


@_open
class ResetReply(TypedDict):
    """The answer to a reset. Events that are not among `events` are never sent; left out, all may be."""

    ok: Annotated[bool, Field(description="false: the subject does not have this protocol or configuration")]
    version: NotRequired[Literal[1]]
    events: NotRequired[list[Verb]]
    error: NotRequired[Annotated[str, Field(description="why ok is false")]]


@_open
class EventReply(TypedDict):
    """The answer to an event: whether it was enabled, and what is to be seen after it."""

    applied: bool
    observation: NotRequired[Observation]


_RESET_REPLY: TypeAdapter[ResetReply] = TypeAdapter(ResetReply)
_EVENT_REPLY: TypeAdapter[EventReply] = TypeAdapter(EventReply)
_OBSERVATION: TypeAdapter[Observation] = TypeAdapter(Observation)
_MESSAGES: TypeAdapter[Any] = TypeAdapter(ResetRequest | EventRequest | ResetReply | EventReply)


def config_of(settings: Configuration) -> Config:
    """The `config` of a reset."""
    return cast(Config, asdict(settings))


def reset_request(config: Config, protocol: str) -> bytes:
    """The line of a reset."""
    return _line(ResetRequest(op="reset", version=VERSION, protocol=protocol, config=config))


def event_request(event: str) -> bytes:
    """The line of an event."""
    return _line(EventRequest(op="event", event=event))


def parse_reset_reply(line: bytes) -> ResetReply:
    """The reply to a reset. Raises Malformed."""
    reply: ResetReply = _parse(_RESET_REPLY, line)
    check_verbs(reply.get("events", []))
    return reply


def parse_event_reply(line: bytes) -> EventReply:
    """The reply to an event. Raises Malformed."""
    reply: EventReply = _parse(_EVENT_REPLY, line)
    return reply


def check_observation(observation: Any) -> Observation:
    """An observation that came as Python values, as the protocol would have brought it. Raises Malformed."""
    try:
        text = json.dumps(observation).encode()
    except (TypeError, ValueError) as error:
        raise Malformed(f"observation: {error}") from None
    return parse_observation(text)


def parse_observation(text: str | bytes) -> Observation:
    """An observation alone. Raises Malformed."""
    observation: Observation = _parse(_OBSERVATION, text)
    return observation


def check_verbs(verbs: list[str]) -> None:
    """Raises Malformed for a verb that is not of the alphabet."""
    for verb in verbs:
        if verb not in VERBS:
            raise Malformed(f"events: unknown event {verb!r}; the events are {', '.join(VERBS)}")


def schema() -> dict[str, Any]:
    """The JSON schema of a line, request or reply."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"epochfuzz conformance protocol, version {VERSION}: a line on stdin or stdout of the subject",
        **_MESSAGES.json_schema(),
    }


def _line(message: ResetRequest | EventRequest) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _parse(adapter: TypeAdapter[Any], text: str | bytes) -> Any:
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise Malformed(": ".join(filter(None, [".".join(map(str, first["loc"])), first["msg"]]))) from None
