"""A case: one schedule, the reason why it matters, and its expected result under each protocol.

A case is a YAML file that people read and write. `load_case` rejects unknown keys and values. Otherwise a misspelt
expectation would never be checked. `load_case` turns the text of `dump_case` back into an equal case.
"""

import re
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.cases.case_yaml import CaseError, Flow, Folded, Value, read, write
from epochfuzz.harness.text.printable import paragraphs
from epochfuzz.harness.text.slug import SLUG
from epochfuzz.model.kafka.contract import observation
from epochfuzz.model.kafka.contract.observation import Shape
from epochfuzz.model.kafka.contract.properties import named
from epochfuzz.model.kafka.vocabulary.configuration import Configuration, ConfigurationError
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, parse_event, schedule_texts
from epochfuzz.model.kafka.vocabulary.names import nearest
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.documents import parts

__all__ = ["Case", "CaseError", "CheckedState", "Expectation", "OnSystem", "dump_case", "load_case", "log_texts"]

SCHEMA = 1
MAX_EVENTS = 10_000  # a replay keeps the state after every event

_RECORD = re.compile(r"(m(?:0|[1-9][0-9]?)|COMMIT|ABORT)@(0|[1-9][0-9]?)")
_SYSTEM = re.compile(r"[a-z][a-z0-9-]*-[0-9]+(\.[0-9]+)*")
_ISSUE = re.compile(r"[\w.-]+/[\w.-]+#[0-9]+")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Expectation:
    """The expected result of a schedule under one protocol.

    Each property in `broken` must break. Event number `at` must be the first that breaks a property in `broken` (None:
    not checked). A property that only warns of a later loss, such as `isr-complete`, counts for `at` only if no other
    property breaks. Other properties may break too, because one broken guarantee often breaks others. But if `broken`
    is empty, no property may break.
    `permitted` lists exactly the properties that break and that the settings permit to break, such as no-acked-loss
    with acks=1 (None: not checked).
    """

    broken: tuple[str, ...]
    at: int | None = None
    permitted: tuple[str, ...] | None = None

    def plain(self) -> "parts.Verdict":
        """Return `broken` and `at` as plain data for JSON."""
        return {"broken": list(self.broken), "at": self.at}


@dataclass(frozen=True)
class OnSystem(Expectation):
    """The expected result of a schedule on a third-party system, such as `fluss-0.9.1`.

    `issue` is the issue that reports the bug, such as apache/fluss#4269; None if no issue is known. A replay of the
    case runs only the model, and does not check this expectation.
    """

    issue: str | None = None


@dataclass(frozen=True)
class CheckedState:
    """The expected visible values after event number `after` (0: before the first event) under one protocol.

    `observation` has the form that `observe` in model/kafka/contract/observation.py returns. A replay compares only the
    keys that `observation` has.
    """

    after: int
    protocol: str
    observation: dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A schedule (`events`, one byte for each event) with its settings, expected results and reason to keep it.

    `why` is the reason. `expect` holds the expected results by protocol, and `systems` the expected results by
    third-party system. epochfuzz writes `provenance`, the origin of the case, such as the seed of the run that found
    the case.
    """

    id: str
    why: str
    settings: Configuration
    events: bytes
    _: KW_ONLY
    expect: dict[str, Expectation] = field(default_factory=dict)
    states: tuple[CheckedState, ...] = ()
    provenance: dict[str, Any] | None = None
    systems: dict[str, OnSystem] = field(default_factory=dict)
    path: Path | None = field(default=None, compare=False)

    @property
    def fingerprints(self) -> dict[str, str]:
        """The recorded fingerprints of replays (digests of all events and their effects), by protocol."""
        return dict((self.provenance or {}).get("fingerprint", {}))

    @property
    def protocols(self) -> list[str]:
        """The protocols that the case mentions, in the order of their first mention."""
        checked = [state.protocol for state in self.states]
        return list(dict.fromkeys([*self.expect, *checked, *self.fingerprints]))


def load_case(path: str | Path) -> Case:
    """Return the case in a file. Raises CaseError, which names the file and the line of the error."""
    optional = ("config", "expect", "states", "systems", "provenance")
    parts = read(Path(path)).fields(("schema", "id", "why", "events"), optional)
    if str(parts["schema"].scalar()) != str(SCHEMA):
        raise parts["schema"].expected(f"{SCHEMA}, the only one this version reads")
    settings = _settings(parts["config"]) if "config" in parts else Configuration()
    events = _events(parts["events"], settings)
    return Case(
        id=parts["id"].parsed(_slug),
        why=parts["why"].text(),
        settings=settings,
        events=events,
        expect=_expectations(parts["expect"], events) if "expect" in parts else {},
        states=_states(parts["states"], settings, events) if "states" in parts else (),
        provenance=_read_known(parts["provenance"], _PROVENANCE) if "provenance" in parts else None,
        systems=_systems(parts["systems"], events) if "systems" in parts else {},
        path=Path(path),
    )


def dump_case(case: Case, texts: Callable[[bytes], list[str]] = schedule_texts) -> str:
    """Return the text of a case file. `load_case` turns it back into an equal case. `texts` names the events."""
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "id": case.id,
        "why": Folded(paragraphs(case.why)),  # load_case rejects unprintable text
        "config": Flow({key: _number_or_word(value) for key, value in case.settings.changed().items()}),
        "events": texts(case.events),
    }
    if case.expect:
        content["expect"] = {protocol: _expectation_content(e) for protocol, e in case.expect.items()}
    if case.states:
        content["states"] = [_state_content(state) for state in case.states]
    if case.systems:
        content["systems"] = {name: _expectation_content(e) for name, e in case.systems.items()}
    if case.provenance is not None:
        content["provenance"] = Flow(case.provenance)
    return write(content)


def log_texts(log: list[list[Any]]) -> list[str]:
    """Return the records of a log in the notation of case files: `m0@0` is record m0 of leader epoch 0."""
    return [f"{record}@{epoch}" for record, epoch in log]


def _settings(value: Value) -> Configuration:
    given = value.fields((), [setting.name for setting in fields(Configuration)])
    chosen: dict[str, Any] = {key: setting.scalar() for key, setting in given.items()}
    if "acks" in chosen:
        chosen["acks"] = str(chosen["acks"])  # YAML reads 0 and 1 as numbers
    try:
        return Configuration(**chosen)
    except ConfigurationError as error:
        raise given.get(error.key, value).error(str(error)) from None


def _events(value: Value, settings: Configuration) -> bytes:
    items = value.items("an event")
    if not 0 < len(items) <= MAX_EVENTS:
        raise value.error(f"events has {len(items)} events; a case has from 1 to {MAX_EVENTS}")
    return bytes(_event(item, settings) for item in items)


def _event(value: Value, settings: Configuration) -> int:
    event = value.parsed(parse_event)
    if replica_of(event) >= settings.replicas:
        last = REPLICA_NAMES[settings.replicas - 1]
        raise value.error(
            f"{value.text()!r} is out of range: with {settings.replicas} replicas the last is {last}; "
            "name another replica or raise config.replicas"
        )
    return event


def _expectations(value: Value, events: bytes) -> dict[str, Expectation]:
    return {key.parsed(_protocol): _expectation(item, events) for key, item in value.entries()}


def _expectation(value: Value, events: bytes) -> Expectation:
    return Expectation(**_expected(value.fields(("broken",), ("at", "permitted")), events))


def _systems(value: Value, events: bytes) -> dict[str, OnSystem]:
    return {key.parsed(_system): _on_system(item, events) for key, item in value.entries()}


def _on_system(value: Value, events: bytes) -> OnSystem:
    parts = value.fields(("broken",), ("at", "permitted", "issue"))
    return OnSystem(**_expected(parts, events), issue=parts["issue"].parsed(_issue) if "issue" in parts else None)


def _expected(parts: dict[str, Value], events: bytes) -> dict[str, Any]:
    broken = _properties(parts["broken"])
    if "at" in parts and not broken:
        raise parts["at"].error("at says when a property breaks, but broken names none; name one or remove at")
    return {
        "broken": broken,
        "at": parts["at"].whole_number(1, len(events)) if "at" in parts else None,
        "permitted": _properties(parts["permitted"]) if "permitted" in parts else None,
    }


def _properties(value: Value) -> tuple[str, ...]:
    return tuple(item.parsed(_property) for item in value.items("a property"))


def _states(value: Value, settings: Configuration, events: bytes) -> tuple[CheckedState, ...]:
    return tuple(_state(item, settings, events) for item in value.items("a state"))


def _state(value: Value, settings: Configuration, events: bytes) -> CheckedState:
    letters = REPLICA_NAMES[: settings.replicas]
    parts = value.fields(("after", "protocol"), (*letters, "controller", "consumer"))
    seen: dict[str, Any] = {}
    replicas = {key: _read_known(part, _REPLICA) for key, part in parts.items() if key in letters}
    if replicas:
        seen["replicas"] = replicas
    if "controller" in parts:
        seen["controller"] = _read_known(parts["controller"], _CONTROLLER)
    if "consumer" in parts:
        seen["consumer"] = _read_known(parts["consumer"], _CONSUMER)
    if not seen:
        raise value.error(f"this state names no replica; add {', '.join(letters)} or controller")
    return CheckedState(parts["after"].whole_number(0, len(events)), parts["protocol"].parsed(_protocol), seen)


def _read_known(value: Value, readers: dict[str, Callable[[Value], Any]]) -> dict[str, Any]:
    return {key: readers[key](part) for key, part in value.fields((), tuple(readers)).items()}


def _log(value: Value) -> list[list[Any]]:
    return [item.parsed(_record) for item in value.items("a record")]


def _epochs(value: Value) -> list[list[int]]:
    return [_epoch_entry(item) for item in value.items("an entry of epochs")]


def _epoch_entry(value: Value) -> list[int]:
    numbers = [item.whole_number() for item in value.items("an epoch or start offset")]
    if len(numbers) != 2:
        raise value.expected("a pair, [epoch, start offset]")
    return numbers


def _replica_or_none(value: Value) -> str | None:
    return None if value.scalar() is None else value.parsed(_replica)


def _number_or_none(value: Value) -> int | None:
    return None if value.scalar() is None else value.whole_number()


def _isr(value: Value) -> list[str]:
    return sorted(item.parsed(_replica) for item in value.items("an ISR member"))


def _fingerprints(value: Value) -> dict[str, str]:
    return {key.parsed(_protocol): item.parsed(_fingerprint) for key, item in value.entries()}


# Readers of observations in a case file.
_SHAPES: dict[Shape, Callable[[Value], Any]] = {
    Shape.FLAG: Value.flag,
    Shape.NUMBER: Value.whole_number,
    Shape.NUMBER_OR_NONE: _number_or_none,
    Shape.REPLICA_OR_NONE: _replica_or_none,
    Shape.REPLICAS: _isr,
    Shape.LOG: _log,
    Shape.EPOCHS: _epochs,
    Shape.RECORDS: lambda value: [item.text() for item in value.items("a record")],
}

# Readers of the parts of a case, by key.
_REPLICA = {seen.name: _SHAPES[seen.shape] for seen in observation.REPLICA}
_CONTROLLER = {seen.name: _SHAPES[seen.shape] for seen in observation.CONTROLLER}
_CONSUMER = {seen.name: _SHAPES[seen.shape] for seen in observation.CONSUMER}
_PROVENANCE: dict[str, Callable[[Value], Any]] = {
    "seed": Value.whole_number,
    "schedule": Value.whole_number,
    "shrunk_from": Value.whole_number,
    "certified_minimal": Value.flag,
    "spares": lambda value: [item.parsed(_protocol) for item in value.items("a protocol")],
    "protocol": lambda value: value.parsed(_protocol),
    "property": lambda value: value.parsed(_property),
    "fingerprint": _fingerprints,
}


def _slug(text: str) -> str:
    if not SLUG.fullmatch(text):
        raise ValueError(f"id {text!r} is not a slug; use lower-case words joined by '-', such as m1-loss")
    return text


def _system(text: str) -> str:
    if not _SYSTEM.fullmatch(text):
        raise ValueError(f"{text!r} names no system; write it with its version, such as fluss-0.9.1")
    return text


def _issue(text: str) -> str:
    if not _ISSUE.fullmatch(text):
        raise ValueError(f"{text!r} names no issue; write it as owner/repository#number, such as apache/fluss#4269")
    return text


def _protocol(text: str) -> str:
    name = parse_protocol(text).name
    if name != text:
        raise ValueError(f"protocol {text!r} has a plainer form; write {name!r}")
    return name


def _property(text: str) -> str:
    return named(text).name


def _replica(text: str) -> str:
    if len(text) != 1 or text not in REPLICA_NAMES:
        raise ValueError(f"unknown replica {text!r}; {nearest(text, REPLICA_NAMES)}")
    return text


def _record(text: str) -> list[Any]:
    match = _RECORD.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a record; write it as record@epoch, such as m0@0")
    return [match[1], int(match[2])]


def _fingerprint(text: str) -> str:
    if not _FINGERPRINT.fullmatch(text):
        raise ValueError(f"fingerprint {text!r} is not 16 hexadecimal digits; copy it from the run's output")
    return text


def _expectation_content(expectation: Expectation) -> Flow:
    content = Flow(broken=list(expectation.broken))
    if expectation.at is not None:
        content["at"] = expectation.at
    if expectation.permitted is not None:
        content["permitted"] = list(expectation.permitted)
    if isinstance(expectation, OnSystem) and expectation.issue is not None:
        content["issue"] = expectation.issue
    return content


def _state_content(state: CheckedState) -> Flow:
    content = Flow(after=state.after, protocol=state.protocol)
    for letter, replica in state.observation.get("replicas", {}).items():
        content[letter] = {key: log_texts(value) if key == "log" else value for key, value in replica.items()}
    for part in ("controller", "consumer"):
        if part in state.observation:
            content[part] = state.observation[part]
    return content


def _number_or_word(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isdigit() else value
