"""The conformance protocol, version 1: JSON lines, one reply to each request (docs/reference/wire-protocol.md).

These types validate replies and generate the JSON schema. A reply may have unknown keys, because another tool may need
them. An unknown key may also be a misspelling, so the summary of a run lists unknown keys.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict  # pydantic requires this TypedDict up to Python 3.11

from epochfuzz.harness.conform.oracle.judge import OWN
from epochfuzz.model.kafka.contract import observation
from epochfuzz.model.kafka.contract.observation import Seen, Shape
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS

VERSION: Literal[1] = 1
MOST_VALUES = 2_000  # values in a reply, at any depth; five replicas with full logs need a quarter of this number
STDERR_HINT = "standard output is for replies only, so write log output to standard error"
_MOST_QUOTED = 200  # characters of a line
_LEAST_VALUE = 2  # bytes of the shortest value in JSON, with a comma

ReplicaName = Literal["A", "B", "C", "D", "E"]
Verb = Annotated[str, Field(json_schema_extra={"enum": list(VERBS)})]

_open = with_config(ConfigDict(extra="allow", strict=True))


class MalformedReply(ValueError):
    """A reply does not follow the protocol. The message says where and why."""


def _by_number(records: list[str]) -> list[str]:
    """Return record names in the order of their numbers: m9 comes before m10."""
    return sorted(records, key=lambda name: (len(name), name))


# For each shape of a value in an observation, the type that validates the value.
_TYPES: dict[Shape, Any] = {
    Shape.FLAG: bool,
    Shape.NUMBER: int,
    Shape.NUMBER_OR_NONE: int | None,
    Shape.REPLICA_OR_NONE: ReplicaName | None,
    Shape.REPLICAS: Annotated[list[ReplicaName], AfterValidator(sorted)],
    Shape.LOG: list[tuple[str, int]],
    Shape.EPOCHS: list[tuple[int, int]],
    Shape.RECORDS: Annotated[list[str], AfterValidator(_by_number)],
}


def _observed(name: str, meaning: str, fields: Iterable[Seen]) -> Any:
    """Return the type of a part of an observation, such as a replica. All of its fields are optional."""
    types = {seen.name: Annotated[_TYPES[seen.shape], Field(description=seen.meaning)] for seen in fields}
    types[OWN] = Annotated[dict[str, Any], Field(description="fields of the subject's own: shown, never compared")]
    made: Any = TypedDict(name, types, total=False)  # type: ignore[misc]  # the fields are only known at run time
    made.__doc__ = meaning
    return _open(made)


_SETTING_TYPES: dict[str, Any] = {"acks": Literal["0", "1", "all"]}

if TYPE_CHECKING:  # the keys of these types are only known at run time, because they come from declarations
    ReplicaObservation = dict[str, Any]
    ControllerObservation = dict[str, Any]
    ConsumerObservation = dict[str, Any]
    ProducersObservation = dict[str, Any]
    Config = dict[str, Any]
else:
    ReplicaObservation = _observed(
        "ReplicaObservation",
        "The observation of one replica. A field that is left out is not compared.",
        observation.REPLICA,
    )
    ControllerObservation = _observed(
        "ControllerObservation",
        "The controller's current decision. A field that is left out is not compared.",
        observation.CONTROLLER,
    )
    ConsumerObservation = _observed(
        "ConsumerObservation",
        "The observation of the consumer, if there is one. A field that is left out is not compared.",
        observation.CONSUMER,
    )
    ProducersObservation = _observed(
        "ProducersObservation",
        "The records that are acknowledged to producers. If left out, they follow from high watermarks and the ISR.",
        observation.PRODUCERS,
    )
    Config = TypedDict(
        "Config",
        {
            setting.name: Annotated[
                _SETTING_TYPES.get(setting.name, type(setting.default)), Field(description=setting.metadata["meaning"])
            ]
            for setting in fields(Configuration)
        },
    )
    Config.__doc__ = "All settings of a case file, each with its value."


@_open
class Observation(TypedDict, total=False):
    """The observed state of a partition after an event. A field that is left out is not compared."""

    replicas: dict[ReplicaName, ReplicaObservation]
    controller: ControllerObservation
    consumer: ConsumerObservation
    producers: ProducersObservation


class ResetRequest(TypedDict):
    """Start over: empty logs, all replicas up, A leads epoch 0, the ISR has all replicas, and each replica knows this.

    From `kip-101` on, A's leader epoch cache then has an entry for its epoch: A's `epochs` are [[0, 0]].
    """

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
    """The reply to a reset. epochfuzz sends only the events in `events`, or all if it is left out.

    An `observation` of the state after the reset is compared before the first event.
    """

    ok: Annotated[bool, Field(description="false: the subject does not have this protocol or configuration")]
    version: NotRequired[Literal[1]]
    events: NotRequired[list[Verb]]
    error: NotRequired[Annotated[str, Field(description="why ok is false")]]
    observation: NotRequired[Observation]


@_open
class EventReply(TypedDict):
    """The reply to an event: whether the event was enabled, and an observation of the state after it."""

    applied: bool
    observation: NotRequired[Observation]


_RESET_REPLY: TypeAdapter[ResetReply] = TypeAdapter(ResetReply)
_EVENT_REPLY: TypeAdapter[EventReply] = TypeAdapter(EventReply)
_OBSERVATION: TypeAdapter[Observation] = TypeAdapter(Observation)
_MESSAGES: TypeAdapter[Any] = TypeAdapter(ResetRequest | EventRequest | ResetReply | EventReply)


def config_of(settings: Configuration) -> Config:
    """Return the settings in the form of a reset request."""
    return asdict(settings)


def reset_request(config: Config, protocol: str) -> bytes:
    """Return a reset request as a line of JSON."""
    return _line(ResetRequest(op="reset", version=VERSION, protocol=protocol, config=config))


def event_request(event: str) -> bytes:
    """Return an event request as a line of JSON."""
    return _line(EventRequest(op="event", event=event))


def parse_reset_reply(line: bytes) -> ResetReply:
    """Parse a line of JSON as the reply to a reset, and return the reply. Raises MalformedReply."""
    reply: ResetReply = parse(_RESET_REPLY, line)
    check_verbs(reply.get("events", []))
    return reply


def parse_event_reply(line: bytes) -> EventReply:
    """Parse a line of JSON as the reply to an event, and return the reply. Raises MalformedReply."""
    reply: EventReply = parse(_EVENT_REPLY, line)
    return reply


def check_observation(shown: Any) -> Observation:
    """Check an observation that a Python object returned, and convert it to the types of a parsed JSON reply.

    Raises MalformedReply.
    """
    try:
        text = json.dumps(shown).encode()
    except (TypeError, ValueError) as error:
        raise MalformedReply(f"observation: {error}") from None
    return parse_observation(text)


def parse_observation(text: str | bytes) -> Observation:
    """Return an observation from its JSON text. Raises MalformedReply."""
    parsed: Observation = parse(_OBSERVATION, text)
    return parsed


def check_verbs(verbs: list[str]) -> None:
    """Raise MalformedReply for a verb that does not exist."""
    for verb in verbs:
        if verb not in VERBS:
            raise MalformedReply(f"events: unknown event {verb!r}; the events are {', '.join(VERBS)}")


def schema() -> dict[str, Any]:
    """Return the JSON schema of all requests and replies."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"epochfuzz conformance protocol, version {VERSION}: a line on stdin or stdout of the subject",
        **_MESSAGES.json_schema(),
    }


def _line(message: ResetRequest | EventRequest) -> bytes:
    return json.dumps(message).encode() + b"\n"


def parse(adapter: TypeAdapter[Any], text: str | bytes) -> Any:
    """Return the value in a JSON text, validated by a pydantic type adapter. Raises MalformedReply."""
    try:
        parsed = adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            raise MalformedReply(f"not JSON: {_quoted(text)}; {STDERR_HINT}") from None
        raise MalformedReply(": ".join(filter(None, [".".join(map(str, first["loc"])), first["msg"]]))) from None
    if len(text) > _LEAST_VALUE * MOST_VALUES and _has_more_values(parsed, MOST_VALUES):
        raise MalformedReply(f"it has more than {MOST_VALUES:,} values")
    return parsed


def _quoted(text: str | bytes) -> str:
    """Return the beginning of a line in quotes, for a message."""
    line = text if isinstance(text, str) else text.decode(errors="replace")
    return repr(line if len(line) <= _MOST_QUOTED else line[:_MOST_QUOTED] + "...")


def _has_more_values(whole: Any, most: int) -> bool:
    """Return whether a JSON value contains more than `most` values, at any depth."""
    count, wholes = 0, [whole]
    while wholes and count <= most:
        part = wholes.pop()
        values = part.values() if isinstance(part, dict) else part
        count += len(values)
        wholes += (value for value in values if isinstance(value, dict | list | tuple))
    return count > most
