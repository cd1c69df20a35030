"""Case files for a user's own model: a schedule, its settings, and its expected result under each protocol."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from epochfuzz.harness.cases.case_yaml import Flow, Folded, Value, read, write
from epochfuzz.model.core.model import Model

SCHEMA = 1


@dataclass(frozen=True)
class OwnExpectation:
    """The properties that a schedule must break under a protocol.

    If `broken` is empty, the schedule must break no property. `at` is the number of the event that must be the first to
    break a property, or None if any event may be the first.
    """

    broken: tuple[str, ...]
    at: int | None = None


@dataclass(frozen=True)
class OwnCase:
    """A case of a user's own model. `why` explains the case, and `expect` maps names of protocols to expectations."""

    id: str
    why: str
    settings: Any
    events: bytes
    expect: dict[str, OwnExpectation] = field(default_factory=dict)


def load_case(path: Path, model: Model) -> OwnCase:
    """Return the case in a file. Raises CaseError, whose message names the file and the line of the error."""
    parts = read(path).fields(("schema", "id", "why", "events"), ("config", "expect"))
    if parts["schema"].scalar() != SCHEMA:
        raise parts["schema"].expected(f"{SCHEMA}, the only one this version reads")
    return OwnCase(
        id=parts["id"].text(),
        why=parts["why"].text(),
        settings=_settings(parts["config"], model) if "config" in parts else model.settings,
        events=bytes(each.parsed(model.events.parse) for each in parts["events"].items("an event")),
        expect=dict(_expected(*each, model) for each in parts["expect"].entries()) if "expect" in parts else {},
    )


def _settings(config: Value, model: Model) -> Any:
    try:
        return model.settings.changed_to({value.name: value.scalar() for _, value in config.entries()})
    except (TypeError, ValueError) as error:
        raise config.error(str(error)) from None


def _expected(key: Value, value: Value, model: Model) -> tuple[str, OwnExpectation]:
    key.parsed(model.protocol)
    parts = value.fields(("broken",), ("at",))
    names = tuple(each.text() for each in parts["broken"].items("a property"))
    unknown = [name for name in names if name not in model.judgement.names]
    if unknown:
        raise parts["broken"].error(
            f"unknown property {unknown[0]!r}; the properties are {', '.join(model.judgement.names)}"
        )
    return key.name, OwnExpectation(names, parts["at"].whole_number(1) if "at" in parts else None)


def dump_case(case: OwnCase, model: Model) -> str:
    """Return the text of a case file. From this text, `load_case` reads an equal case."""
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "id": case.id,
        "why": Folded(case.why),
        "config": Flow(case.settings.changed()),
        "events": model.events.texts(case.events),
    }
    if case.expect:
        content["expect"] = {
            name: Flow({"broken": list(each.broken)} | ({} if each.at is None else {"at": each.at}))
            for name, each in case.expect.items()
        }
    return write(content)
