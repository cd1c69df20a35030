"""The tests run the commands of each page in order, as a reader would, and compare their output with the page."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from epochfuzz.harness.cli.main import app
from tests.documents.pages import PAGES, ROOT, Block, assert_printed, blocks

CLUSTER = {"spark://master:7077": "'local-cluster[2,1,1024]'", "s3a://bucket/": "cluster/"}  # replacements in the tests


def each(pages: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages])


class Reader:
    """A reader who follows a page, in a directory with the files of a checkout.

    The model and the harness in it are copies. `epochfuzz` uses them, and the reader may edit them.
    """

    def __init__(self, parent: Path) -> None:
        self.directory = parent / "checkout"
        self.directory.mkdir()
        for name in ("corpus", "tests"):
            (self.directory / name).symlink_to(ROOT / name)
        for name in ("model", "harness"):
            shutil.copytree(ROOT / name, self.directory / name, ignore=shutil.ignore_patterns("__pycache__"))
        (self.directory / ".venv").symlink_to(sys.prefix)
        installed = parent / "installed"
        package = installed / "epochfuzz"
        package.mkdir(parents=True)
        for name in ("__init__.py", "corpus", "strategies"):
            (package / name).symlink_to(ROOT / "src" / "epochfuzz" / name)
        for name in ("model", "harness"):
            (package / name).symlink_to(self.directory / name)
        self.environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(installed),
            "PYTHONUNBUFFERED": "1",  # the two streams in the order in which a terminal shows them
        }

    def save(self, block: Block) -> None:
        """Save a block in the file that the page names."""
        path = self.directory / block.notes["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def run(self, text: str) -> subprocess.CompletedProcess[str]:
        """Run commands; stdout has both streams."""
        for there, here in CLUSTER.items():
            text = text.replace(there, here)
        return subprocess.run(
            ["sh", "-e", "-c", text],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=500,
            check=False,
        )


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def follow(page: Path, reader: Reader, *, slow: bool) -> None:
    """Save the files and run the commands of a page, in order."""
    for block in blocks(page):
        if "file" in block.notes:
            reader.save(block)
        elif block.language == "sh" and (slow or not block.is_slow):
            ended = reader.run(block.text)
            assert ended.returncode == block.exit_code, f"{block.text}\n{ended.stdout}"
            assert_printed(ended.stdout, block.promised)


def pages_with(*, slow: bool) -> list[Path]:
    return [page for page in PAGES if any(block.is_slow == slow for block in blocks(page, "sh"))]


@pytest.fixture(autouse=True)
def has_what_pages_need(request: pytest.FixtureRequest) -> None:
    page = request.node.callspec.params["page"]
    for command, used in (("node", " node "), ("mvn", "epochfuzz cluster ")):
        needed = any(used in block.text for block in blocks(page, "sh"))
        if needed and shutil.which(command) is None and os.environ.get("CI") != "true":
            pytest.skip(f"{command} is not installed")


@pytest.mark.thorough
@each(pages_with(slow=False))
def test_the_quick_commands_of_a_page_print_the_documented_output(page: Path, reader: Reader) -> None:
    follow(page, reader, slow=False)


@pytest.mark.slow
@each(pages_with(slow=True))
def test_all_commands_of_a_page_print_the_documented_output(page: Path, reader: Reader) -> None:
    follow(page, reader, slow=True)


@each(PAGES)
def test_every_command_of_a_page_that_no_test_runs_exists_with_its_options(page: Path) -> None:
    for line in shown_only(page):
        words = shlex.split(line, comments=True)
        if words[0] == "make":
            assert f"\n{words[1]}: " in (ROOT / "Makefile").read_text(encoding="utf-8"), line
        elif words[0].endswith("epochfuzz"):
            assert_is_there(words[1:], line)


def shown_only(page: Path) -> list[str]:
    """Return the commands in blocks that the tests don't run."""
    texts = [block.text for language in ("shell", "console") for block in blocks(page, language)]
    return [line for text in texts for line in text.splitlines() if line.strip()]


def assert_is_there(words: list[str], line: str) -> None:
    """Check that a command and each of its options exist."""
    command: Any = typer.main.get_command(app)
    words = words[: words.index("--")] if "--" in words else words
    while hasattr(command, "commands") and words[0] != "--version":
        command = command.get_command(None, words.pop(0))
        assert command is not None, line
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if re.match(r"--?[a-z]", word)} <= options, line


@each(PAGES)
def test_every_file_that_a_page_links_to_exists(page: Path) -> None:
    for target in links(page):
        assert (page.parent / target).exists(), target


@each([ROOT / "docs" / name for name in ("start/walk.md", "start/course.md", "explain/replication.md")])
def test_the_first_pages_replay_the_divergence_of_two_logs_under_hw(page: Path) -> None:
    commands = [line for block in blocks(page, "sh") for line in block.text.splitlines()]
    shown = [line for line in commands if "replay divergence-under-the-high-watermark " in line]
    assert any("--protocol hw --protocol kip-101" in line for line in shown)


def links(page: Path) -> list[str]:
    """Return the files that a page links to."""
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    return [target for target in targets if "://" not in target]
