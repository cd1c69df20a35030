"""`epochfuzz skill`: print the instructions for a coding agent that writes an adapter."""

from importlib.resources import files
from typing import TYPE_CHECKING

import typer

from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.output import Exit, print_json

if TYPE_CHECKING:
    from epochfuzz.harness.documents import cases as documents


def skill(json: options.Json = False) -> int:
    """Print instructions for coding agents: how to write an adapter, read a difference, keep a case.

    Examples:

    - `epochfuzz skill`
    - `epochfuzz skill > .claude/skills/epochfuzz/SKILL.md`
    """
    text = (files("epochfuzz.harness.starters") / "SKILL.md").read_text(encoding="utf-8")
    if json:
        document: documents.Skill = {"skill": text}
        print_json(document)
    else:
        typer.echo(text, nl=False)
    return Exit.AS_EXPECTED
