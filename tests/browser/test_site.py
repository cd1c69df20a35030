"""Every page of the site in a real browser, on a narrow and on a wide screen, in light and in dark colors."""

import re
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.watching import served

pytestmark = pytest.mark.thorough

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDTHS = (400, 1280)
WITHOUT_SEARCH = ("play", "walks")  # pages of `epochfuzz play`

_ANY_FINDING = re.compile("findings/")

_LOOK = """() => {
  const box = document.querySelector("input.md-search__input, form[role=search] input")?.getBoundingClientRect();
  return {
    width: document.documentElement.scrollWidth,
    search: box && box.width >= 100 && box.height >= 16 && box.left >= 0 && box.right <= innerWidth && box.top >= 0
      && box.bottom <= innerHeight
      && document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)?.tagName === "INPUT",
    is_dark: getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((part) => part < 128),
  };
}"""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The built site, served as files by this process."""
    with served(site) as address:
        yield address


def look_of(page: Page, scheme: str) -> dict[str, Any]:
    """Return what the browser shows of a page. Waits up to 5 s for the script that changes the page's colors."""
    look: dict[str, Any] = page.evaluate(_LOOK)
    deadline = time.monotonic() + 5
    while look["is_dark"] != (scheme == "dark") and time.monotonic() < deadline:
        page.wait_for_timeout(50)
        look = page.evaluate(_LOOK)
    return look


@pytest.fixture(scope="module")
def looks(browser: Browser, site: Path, address: str) -> dict[tuple[str, str, int], dict[str, Any]]:
    """What the browser shows of each page, by page, color scheme and width. Fails on a request to another host."""
    seen: dict[tuple[str, str, int], dict[str, Any]] = {}
    foreign: list[str] = []
    pages = sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html"))
    own = (address, "blob:", "data:")
    context = browser.new_context()
    context.on("request", lambda each: None if each.url.startswith(own) else foreign.append(each.url))
    page = context.new_page()
    for name in pages:
        page.goto(f"{address}{name}")
        for width, scheme in product(WIDTHS, SCHEMES):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            seen[name, scheme, width] = look_of(page, scheme)
    context.close()
    assert foreign == []
    assert len(pages) > 150
    return seen


def test_no_page_is_wider_than_the_screen(looks: dict[tuple[str, str, int], dict[str, Any]]) -> None:
    assert {key: look["width"] for key, look in looks.items() if look["width"] > key[2]} == {}


def test_every_page_shows_a_search_field(looks: dict[tuple[str, str, int], dict[str, Any]]) -> None:
    searchable = {key: look for key, look in looks.items() if key[0].split("/")[0] not in WITHOUT_SEARCH}
    assert [key for key, look in searchable.items() if not look["search"]] == []


def test_every_page_has_a_dark_background_in_dark_colors_only(
    looks: dict[tuple[str, str, int], dict[str, Any]],
) -> None:
    assert [key for key, look in looks.items() if look["is_dark"] != (key[1] == "dark")] == []


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(color_scheme="light", viewport={"width": 400, "height": 900})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_search_finds_a_page(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}index.html")
    page.locator(".md-search__input").click()
    page.keyboard.type("fetch before the registration")
    expect(page.locator(".md-search-result__link").first).to_have_attribute("href", _ANY_FINDING)


def test_the_search_field_of_a_case_opens_the_search_of_the_site(page: Page, address: str) -> None:
    page.goto(f"{address}cases/m1-loss.html")
    page.locator("form[role=search] input").fill("high watermark")
    page.keyboard.press("Enter")
    expect(page.locator(".md-search__input")).to_have_value("high watermark")
    expect(page.locator(".md-search-result__link").first).to_be_visible()


def test_the_toggle_changes_the_colors_of_the_page(page: Page, address: str) -> None:
    page.goto(f"{address}index.html")
    grounds = set()
    for _ in range(3):
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.locator("label[for^=__palette]:visible").click()
    assert len(grounds) == 2


def test_wide_tables_and_code_scroll_inside_of_their_own_box(page: Page, address: str) -> None:
    for name, selector in (("reference/releases", "table"), ("findings/fluss", ".highlight code")):
        page.goto(f"{address}{name}/index.html")
        boxes = page.locator(f".md-typeset {selector}").evaluate_all(
            "(all) => all.map((each) => [each, each.parentElement, each.parentElement.parentElement]"
            ".some((box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === 'auto'))"
        )
        assert any(boxes), name
