"""The playground of the site in a real browser: static files, no server that computes, and no other origin."""

import time
import zlib
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from epochfuzz.harness.cases.bundled import bundled_cases
from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.harness.links.position import Position
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.browser.watching import served, watched
from tests.documents.playground import playground

pytestmark = pytest.mark.thorough

M1_LOSS = load_case("m1-loss")
PROTOCOLS = ("hw", "kip-101")
START = Position(
    protocols=tuple(map(parse_protocol, PROTOCOLS)), settings=M1_LOSS.settings, events=M1_LOSS.events, case="m1-loss"
)
OTHER = replace(START, protocols=(parse_protocol("kip-320"),)).at(12)  # a page that the site has prepared

expect.set_options(timeout=60_000)  # Python starts in the browser, and the machine may be busy


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The playground below the root of a site, served as files by this process."""
    root = tmp_path_factory.mktemp("site")
    try:
        for name, content in playground.files(bundled_cases(), [OTHER.query()]):
            file = root / "docs" / "play" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    except playground.NoPyodide as error:
        pytest.skip(str(error))
    with served(root) as address:
        yield f"{address}docs/play/"


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page of which anything that goes wrong in it, or any request to elsewhere, fails the tests."""
    with watched(browser, lambda request: is_own(request.url, address)) as (page, troubles):
        yield page
        assert troubles == []


def is_own(url: str, address: str) -> bool:
    return url.startswith((address, "blob:", "data:"))


def fingerprints(page: Page) -> list[str | None]:
    return [each.get_attribute("data-fingerprint") for each in page.locator(".verdicts [data-fingerprint]").all()]


def test_m1_loss_has_the_fingerprints_of_replay_under_both_protocols(page: Page, address: str) -> None:
    page.goto(f"{address}?{START.query()}")
    expect(page.locator("output")).to_have_text("step 0 of 25")
    assert fingerprints(page) == [each.run.fingerprint for each in judge(M1_LOSS, PROTOCOLS).verdicts.values()]
    assert "The first scenario of KIP-101" in page.locator("#story").inner_text()


def test_keys_reach_every_step_and_update_the_address(page: Page, address: str) -> None:
    page.goto(f"{address}?{START.query()}")
    expect(page.locator("output")).to_have_text("step 0 of 25")
    for step in range(1, 26):
        page.keyboard.press("ArrowRight")
        expect(page.locator("output")).to_have_text(f"step {step} of 25")
        assert page.url == f"{address}?{START.at(step).query()}"
    page.keyboard.press("Home")
    page.click("#parting a")
    expect(page.locator("#step h2")).to_contain_text("12 notify B")
    expect(page.locator(".pane").first).to_contain_text("B truncates m1: its high watermark was 1")
    expect(page.locator(".pane").last).to_contain_text("B keeps m1")


def test_the_browser_computes_another_event_and_goes_back_to_the_step_before(page: Page, address: str) -> None:
    page.goto(f"{address}?{START.at(15).query()}")
    expect(page.locator("output")).to_have_text("step 15 of 25")
    page.click("#restart-A")
    expect(page.locator("#step h2")).to_have_text("16 restart A")
    page.go_back()
    expect(page.locator("output")).to_have_text("step 15 of 25")
    page.reload()
    expect(page.locator("output")).to_have_text("step 15 of 25")


def test_the_start_page_lists_the_stories_and_the_keyboard_opens_a_story(page: Page, address: str) -> None:
    page.goto(address)
    stories = page.locator("#beginnings a")
    expect(stories).to_have_text(["Two rounds of fetch", "A committed record is lost", "Two logs diverge"])
    stories.nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("m1-loss")
    assert page.url == f"{address}?{START.query()}"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("case=<script>alert(1)</script>", "case must be lower-case words joined by '-'"),
        ("protocol=kip-32", "unknown protocol 'kip-32'; did you mean 'kip-320'?"),
        ("events=" + ",".join(["produce+A"] * 501), "501 events are too many to draw"),
    ],
)
def test_a_wrong_address_shows_a_message_and_a_link_to_the_start_page(
    page: Page, address: str, query: str, said: str
) -> None:
    page.goto(f"{address}?{query}")
    expect(page.locator("#mistake")).to_contain_text(said)
    page.click("text=start over")
    expect(page.locator("#beginnings")).to_be_visible()


def test_the_page_and_its_worker_cannot_send_requests_to_another_origin(browser: Browser, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#beginnings")).to_be_visible()
    ask = "fetch('http://127.0.0.1:1/').then(() => 'asked', (error) => String(error))"
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.evaluate(ask)
    page.workers[0].evaluate(ask)
    page.wait_for_timeout(200)
    assert len([each for each in refused if "Content Security Policy" in each]) >= 2, refused
    context.close()


@pytest.mark.parametrize("width", [400, 1280, 1600])
def test_the_playground_does_not_overflow_the_window(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for query in (START.at(12).query(), ""):
        page.goto(f"{address}?{query}")
        expect(page.locator("#choices")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.set_viewport_size({"width": 1280, "height": 900})


def test_the_steps_of_the_first_story_and_a_link_of_the_site_load_without_python(
    browser: Browser, address: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.route("**/pyodide/**", lambda route: None)  # Python never arrives
    page.goto(f"{address}?{OTHER.query()}")
    expect(page.locator("output")).to_have_text("step 12 of 25", timeout=5_000)
    page.goto(f"{address}?{START.query()}")
    expect(page.locator("output")).to_have_text("step 0 of 25")
    for step in range(1, 26):
        page.keyboard.press("ArrowRight")
        expect(page.locator("output")).to_have_text(f"step {step} of 25", timeout=5_000)
    context.close()


def test_python_computes_pages_that_the_site_has_not_prepared(browser: Browser, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}?{OTHER.at(13).query()}")
    expect(page.locator("output")).to_have_text("step 13 of 25")
    context.close()


def seconds_of(visit: Page, address: str, step: int) -> float:
    begun = time.monotonic()
    visit.goto(f"{address}?{OTHER.at(step).query()}")
    expect(visit.locator("output")).to_have_text(f"step {step} of 25")
    return time.monotonic() - begun


def test_a_second_visit_shows_its_first_page_within_two_seconds(browser: Browser, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    seconds_of(page, address, 7)
    assert seconds_of(page, address, 7) < 2
    page.keyboard.press("ArrowRight")
    expect(page.locator("output")).to_have_text("step 8 of 25")
    context.close()


@pytest.mark.slow  # a busy machine needs longer
def test_python_computes_the_first_step_of_a_first_visit_within_ten_seconds(browser: Browser, address: str) -> None:
    context = browser.new_context()
    seconds = seconds_of(context.new_page(), address, 7)
    print(f"{seconds:.1f} s")
    assert seconds < 10
    context.close()


def test_the_compressed_files_of_the_playground_are_smaller_than_15_megabytes(address: str) -> None:
    files = playground.files(bundled_cases(), [OTHER.query()])
    assert sum(len(zlib.compress(content)) for _, content in files) < 15_000_000
