"""Read case files for a user's own model: a schedule, its settings, and its expected result under each protocol."""

from pathlib import Path
from typing import Any

from epochfuzz.harness.cases.case import SCHEMA, Case, Expectation
from epochfuzz.harness.cases.case_yaml import Value, read
from epochfuzz.model.core.model import Model


def load_case(path: Path, model: Model) -> Case:
    """Return the case of a user's own model in a file. Raises CaseError, which names the file and the line."""
    parts = read(path).fields(("schema", "id", "why", "events"), ("config", "expect"))
    if parts["schema"].scalar() != SCHEMA:
        raise parts["schema"].expected(f"{SCHEMA}, the only one this version reads")
    return Case(
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


def _expected(key: Value, value: Value, model: Model) -> tuple[str, Expectation]:
    key.parsed(model.protocol)
    parts = value.fields(("broken",), ("at",))
    names = tuple(each.text() for each in parts["broken"].items("a property"))
    unknown = [name for name in names if name not in model.judgement.names]
    if unknown:
        raise parts["broken"].error(
            f"unknown property {unknown[0]!r}; the properties are {', '.join(model.judgement.names)}"
        )
    return key.name, Expectation(names, parts["at"].whole_number(1) if "at" in parts else None)
