"""Each starter conforms as its page shows it, and a run sees it when its log is broken."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents.pages import blocks, named

PAGE = named("how-to/starters.md")
SAVED = {block.notes["file"]: block.text for block in blocks(PAGE) if "file" in block.notes}
COMMANDS = [block.text for block in blocks(PAGE, "console")]
# By language: what compiles or runs it, and a mistake: an answer from one record too far on.
STARTERS = {
    "go": ("go", "go/main.go", ("leader.Log[f.LEO:end]", "leader.Log[:end]")),
    "rust": ("rustc", "rust/main.rs", (".skip(replicas[r].log.len())", ".skip(0)")),
    "java": ("java", "java/Main.java", ("leader.log.subList(from, ", "leader.log.subList(0, ")),
    "python": ("python3", "python/main.py", ('replicas["A"][start : ', 'replicas["A"][0 : ')),
}


@pytest.mark.parametrize("language", STARTERS)
@pytest.mark.parametrize("is_broken", [False, True])
def test_a_starter_conforms_unless_it_is_broken(language: str, is_broken: bool, tmp_path: Path) -> None:
    tool, name, mistake = STARTERS[language]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    text = SAVED[name]
    if is_broken:
        assert text.count(mistake[0]) == 1
        text = text.replace(*mistake)
    path = tmp_path / name
    path.parent.mkdir()
    path.write_text(text)
    commands = next(text for text in COMMANDS if f"{language}/" in text or name in text)
    done = run(commands.replace("epochfuzz conform", "epochfuzz conform --seed 1 --certify 0"), tmp_path)
    assert done.returncode == (1 if is_broken else 0), done.stdout
    said = "NOT conform" if is_broken else "The system under test conforms to kip-320"
    assert said in done.stdout
    assert ("replicas.B.l" in done.stdout) == is_broken


def run(commands: str, at: Path) -> subprocess.CompletedProcess[str]:
    here = Path(sys.executable).parent
    commands = re.sub(r"^epochfuzz", str(here / "epochfuzz"), commands, flags=re.MULTILINE)
    commands = commands.replace("-- python ", f"-- {sys.executable} ")
    return subprocess.run(
        ["sh", "-e", "-c", commands],
        cwd=at,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_page_has_a_starter_for_each_language() -> None:
    assert set(SAVED) == {name for _, name, _ in STARTERS.values()}
    assert len(COMMANDS) == len(STARTERS)
