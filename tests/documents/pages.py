"""The pages of the documentation, and the fenced blocks in them.

The line that opens a block has its language, and what a test has to know besides: `exit=1`, where the commands do not
end with 0; `slow`, where they take too long for `make test`; `file=NAME`, where the reader saves the block.
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
    """A fenced block. `promised` is what a block of commands is said to print: the block of text right after it."""

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
    """The blocks of a page, or those in one language, in order."""
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
    """A page, by its path below docs/."""
    return ROOT / "docs" / name


def assert_printed(printed: str, promised: str) -> None:
    """Each line promised was printed, in that order; `...` stands for anything, on a line of its own for any lines."""
    lines = iter(printed.splitlines())
    for line in promised.splitlines():
        pattern = re.escape(line.rstrip()).replace(r"\.\.\.", ".*")
        assert line == "..." or any(re.fullmatch(pattern, each.rstrip()) for each in lines), f"{line}\n\n{printed}"
