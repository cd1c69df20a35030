"""The pages of the documentation, and the fenced blocks in them.

The line that opens a block has its language, and notes for the tests. `exit=1` is the exit code of the commands, if it
is not 0. `slow` marks commands that take too long for `make test`. `file=NAME` is the file in which the reader saves
the block.
"""

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
SKILL = ROOT / "harness" / "starters" / "SKILL.md"
PAGES = [ROOT / "README.md", *DOCS, SKILL]

_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block. `promised` is the documented output of commands: the block of text right after them."""

    language: str
    notes: dict[str, str]
    text: str
    promised: str = ""

    @property
    def is_slow(self) -> bool:
        return "slow" in self.notes

    @property
    def exit_code(self) -> int:
        return int(self.notes.get("exit", 0))


def blocks(page: Path, language: str | None = None) -> list[Block]:
    """Return the blocks of a page, or those in one language, in order."""
    every = [
        Block(found[1], dict(note.partition("=")[::2] for note in found[2].split()), found[3])
        for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]
    followed = [
        replace(block, promised=after.text) if after.language == "text" else block
        for block, after in pairwise([*every, Block("", {}, "")])
    ]
    return [block for block in followed if language in (None, block.language)]


def named(name: str) -> Path:
    """Return a page, by its path below docs/."""
    return ROOT / "docs" / name


def assert_printed(printed: str, promised: str) -> None:
    """Check that all documented lines were printed, in order. `...` matches any text, or any lines if alone."""
    lines = iter(printed.splitlines())
    for line in promised.splitlines():
        pattern = re.escape(line.rstrip()).replace(r"\.\.\.", ".*")
        assert line == "..." or any(re.fullmatch(pattern, each.rstrip()) for each in lines), f"{line}\n\n{printed}"
