"""The site: every page is built, every link leads somewhere, and every case can be stepped through."""

import subprocess
import sys
from pathlib import Path

import pytest

from epochfuzz.harness.cases.corpus import load_corpus
from tests.documents.pages import PAGES, ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    config = ROOT / ".ci" / "site" / "mkdocs.yml"
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(config), "--site-dir", str(directory)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return directory


def test_every_page_of_docs_is_on_the_site_and_found_by_its_search(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        place = page.relative_to(ROOT / "docs").with_suffix("")
        name = "" if place.name == "README" else f"{place.as_posix()}/"
        assert (site / name / "index.html").is_file(), page
        assert f'"location":"{name}"' in index, page


def test_every_case_can_be_stepped_through(site: Path) -> None:
    listed = (site / "cases" / "index.html").read_text(encoding="utf-8")
    for case in load_corpus([ROOT / "corpus"]):
        assert f"{case.id}.html" in listed
        assert "<svg" in (site / "cases" / f"{case.id}.html").read_text(encoding="utf-8")
