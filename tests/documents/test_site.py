"""The site has every page, every link has a target, and a reader can step through every case."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.reference import issues
from tests.documents.pages import DOCS, ROOT

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    config = ROOT / ".ci" / "site" / "mkdocs.yml"
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(config), "--site-dir", str(directory)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return directory


def test_every_page_of_docs_is_on_the_site_and_in_its_search_index(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    for page in DOCS:
        place = page.relative_to(ROOT / "docs").with_suffix("")
        name = "" if place.name == "README" else f"{place.as_posix()}/"
        assert (site / name / "index.html").is_file(), page
        assert f'"location":"{name}"' in index, page


def test_the_site_has_a_page_with_a_drawing_for_every_case(site: Path) -> None:
    listed = (site / "cases" / "index.html").read_text(encoding="utf-8")
    for case in load_corpus([ROOT / "corpus"]):
        assert f"{case.id}.html" in listed
        assert "<svg" in (site / "cases" / f"{case.id}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", ["m1-loss", "re-elected-leader"])
def test_the_site_has_a_page_for_each_step_of_a_case_with_links_to_the_neighbours(site: Path, case: str) -> None:
    steps = len(next(each for each in load_corpus([ROOT / "corpus"]) if each.id == case).events)
    for step in range(steps + 1):
        page = (site / "walks" / case / f"{step}.html").read_text(encoding="utf-8")
        assert f"step {step} of {steps}" in page
        assert "<svg" in page
        neighbours = {f"{other}.html" for other in (step - 1, step + 1) if 0 <= other <= steps}
        assert neighbours <= targets(page)
        assert "../../" in targets(page)
        assert "<form" not in page, "there is no server that would answer"


def test_every_page_of_the_site_has_links_and_every_link_has_a_target(site: Path) -> None:
    for page in set(site.rglob("*.html")) - {site / "404.html"}:
        inner = [target for target in targets(page.read_text(encoding="utf-8")) if not target.startswith("/")]
        assert len(inner) > 1, page
        for target in inner:
            there = page.parent / target
            assert there.is_file() or (there / "index.html").is_file(), f"{page}: {target}"


def targets(page: str) -> set[str]:
    """Return the files of the site that a page links to."""
    addresses = map(urlsplit, re.findall(r'href="([^"]+)"', page))
    return {unquote(each.path) for each in addresses if not each.scheme and each.path}


def test_every_issue_number_on_the_site_is_a_link(site: Path) -> None:
    left_alone = re.compile(r"<(title|head|h[1-6]|nav|code|pre|svg|a|script|textarea)\b.*?</\1>|<[^>]*>", re.DOTALL)
    for page in site.rglob("*.html"):
        if "walks" not in page.parts:
            text = left_alone.sub("", page.read_text(encoding="utf-8"))
            assert [found[0] for found in issues.NUMBER.finditer(text)] == [], page
