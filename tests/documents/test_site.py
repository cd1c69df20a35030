"""The site has every page, every link has a target, and a reader can step through every case."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.reference import issues
from tests.documents.pages import DOCS, ROOT

pytestmark = pytest.mark.thorough

_IN_NAVIGATION = re.compile(r'<a href="([^"#]+)" class="md-nav__link[^"]*">(.*?)</a>', re.DOTALL)
_HEADING = re.compile(r"<h1\b[^>]*>(.*?)(?:<a class=\"headerlink\".*?)?</h1>", re.DOTALL)
_ARTICLE = re.compile(r'<article class="md-content__inner.*?</article>', re.DOTALL)
_OTHER_HOST = r"""["']?(?:https?:)?//"""
_LOADED = re.compile(rf"<(?:(?:script|img|iframe|source)\b[^>]*\bsrc|link\b[^>]*\bhref)={_OTHER_HOST}[^>]*>")
_LOADED_BY_STYLE = re.compile(rf"(?:@import\s*|url\(){_OTHER_HOST}[^)]*")


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
            html = page.read_text(encoding="utf-8")
            article = _ARTICLE.search(html)
            text = left_alone.sub("", article[0] if article else html)
            assert [found[0] for found in issues.NUMBER.finditer(text)] == [], page


def test_each_title_in_the_navigation_is_the_heading_of_the_page(site: Path) -> None:
    start = (site / "index.html").read_text(encoding="utf-8")
    titles = {target: plain(title) for target, title in _IN_NAVIGATION.findall(start)}
    headings = {
        target: plain(_HEADING.findall((site / target / "index.html").read_text(encoding="utf-8"))[0])
        for target in titles
    }
    assert titles == headings
    assert len(titles) >= len(DOCS)


def plain(html: str) -> str:
    """Return the text of HTML without tags, on one line."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


@pytest.mark.parametrize("page", sorted({page.stem for page in DOCS if page.parent.name == "findings"} - {"README"}))
def test_each_page_of_a_finding_has_a_playground_link_with_a_schedule(site: Path, page: str) -> None:
    if not (site / "play").exists():
        pytest.skip("the site has no playground, because npm or Pyodide is missing")
    text = (site / "findings" / page / "index.html").read_text(encoding="utf-8")
    assert re.search(r'href="\.\./\.\./play/(?:index\.html)?\?[^"]*events=', text)


def test_no_page_or_style_of_the_site_loads_a_file_from_another_host(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert _LOADED.findall(text) == [], page
        assert _LOADED_BY_STYLE.findall(text) == [], page
    for style in site.rglob("*.css"):
        assert _LOADED_BY_STYLE.findall(style.read_text(encoding="utf-8")) == [], style
