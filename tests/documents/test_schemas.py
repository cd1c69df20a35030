"""docs/schemas: a JSON schema for every command with `--json`.

Every test that runs a command with `--json` checks its output against the schema: tests/printed.py.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import ValidationError

from epochfuzz.harness.cli.main import app
from epochfuzz.harness.lab import schemas

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name in command.list_commands(None) if hasattr(command, "commands") else ():
        inner = command.get_command(None, name)
        yield " ".join((*path, name)), inner
        yield from commands(inner, (*path, name))


def test_every_command_that_prints_json_has_a_schema() -> None:
    printing = {
        name
        for name, command in commands(typer.main.get_command(app))
        if any("--json" in parameter.opts for parameter in command.params)
    }
    assert printing == set(schemas.DOCUMENTS)


def test_the_schema_files_are_up_to_date() -> None:
    made = {schemas.file_name(command): schemas.schema(command) for command in schemas.DOCUMENTS}
    kept = {file.name: file.read_text(encoding="utf-8") for file in SCHEMAS.iterdir()}
    assert kept == made, "renew the schemas: python -m epochfuzz.harness.lab.schemas"


@pytest.mark.parametrize(
    "document",
    [
        {"report": "a.html"},
        {"report": "a.html", "cases": [], "more": 1},
        {"report": "a.html", "cases": [{"id": "a", "as_expected": "yes"}]},
    ],
    ids=["a key is missing", "a key is unknown", "a value is of another type"],
)
def test_the_schema_check_rejects_a_document_of_another_form(document: dict[str, Any]) -> None:
    schemas.check("report", json.dumps({"report": "a.html", "cases": [{"id": "a", "as_expected": True}]}))
    with pytest.raises(ValidationError):
        schemas.check("report", json.dumps(document))
