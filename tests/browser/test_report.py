"""The report in a real browser: it steps by key and click, fits a phone, prints whole, and loads nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.harness.views.report import from_cases, html
from tests.browser.watching import watched

CORPUS = Path(__file__).parents[2] / "corpus"
CASES = [CORPUS / "documents" / "m1-loss.yaml", CORPUS / "history" / "kafka-6880-zombie-replica.yaml"]
ENVIRONMENT = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(html.render(from_cases.page([judge(case) for case in load_corpus(CASES)])), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def corpus_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("corpus") / "report.html"
    file.write_text(html.render(from_cases.page([judge(case) for case in load_corpus([CORPUS])])), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of which anything that goes wrong in it, or any request for another file, fails the test."""
    with watched(browser, lambda request: request.resource_type == "document") as (page, troubles):
        yield page
        assert troubles == []


def shown(page: Page, case: str = "m1-loss") -> list[str]:
    """The heading of every step of a case that can be seen."""
    return [text.strip() for text in page.locator(f"#{case} .step:visible h4").all_inner_texts()]


def test_the_report_opens_at_the_step_where_the_protocols_part(page: Page, report: str) -> None:
    page.goto(report)
    assert shown(page) == ["12 notify B ◆ here they part"]
    step = page.locator("#m1-loss-12")
    assert step.locator("h5").all_inner_texts() == ["hw", "kip-101"]
    assert "B truncates m1: its high watermark was 1" in step.inner_text()
    assert "B keeps m1, beyond its high watermark 1" in step.inner_text()


def test_keys_step_through_the_report(page: Page, report: str) -> None:
    page.goto(report)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert shown(page) == ["16 notify B"]
    page.keyboard.press("ArrowLeft")
    assert shown(page) == ["15 elect B"]
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert shown(page) == ["25 receive A"]
    page.keyboard.press("Home")
    assert shown(page) == ["0 start"]


def test_clicks_step_through_the_report(page: Page, report: str) -> None:
    page.goto(report)
    page.click("#m1-loss [data-go=forward]")
    assert shown(page) == ["13 fetch B"]
    page.click("#m1-loss .track a[href='#m1-loss-16']")
    assert shown(page) == ["16 notify B"]
    assert page.locator("#m1-loss output").inner_text() == "step 16 of 25"
    page.click("#m1-loss [data-go=last]")
    assert page.locator("#m1-loss [data-go=forward]").is_disabled()


def test_keys_move_the_timeline_that_was_used_last(page: Page, report: str) -> None:
    page.goto(report)
    page.click("#kafka-6880-zombie-replica [data-go=back]")
    page.keyboard.press("ArrowLeft")
    assert shown(page, "kafka-6880-zombie-replica") == ["11 produce A"]
    assert shown(page) == ["12 notify B ◆ here they part"]


def test_a_link_to_a_step_shows_that_step(page: Page, report: str) -> None:
    page.goto(f"{report}#m1-loss-16")
    assert shown(page) == ["16 notify B"]


def test_a_command_copied_from_the_report_runs_as_pasted(page: Page, report: str, tmp_path: Path) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(report)
    page.locator("#m1-loss .copy").first.click()
    page.locator("#m1-loss .copy", has_text="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    ended = subprocess.run(["sh", "-c", copied], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "They part at step 12, notify B." in ended.stdout


@pytest.mark.parametrize("width", [360, 1400, pytest.param(390, marks=pytest.mark.slow)])
def test_the_report_of_the_corpus_shows_every_protocol_within_the_window(
    page: Page, corpus_report: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(corpus_report)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    beyond = "cells => cells.filter(cell => cell.getBoundingClientRect().right > innerWidth).length"
    assert page.locator("table td").evaluate_all(beyond) == 0
    assert page.locator("#properties tr", has_text="no-committed-loss").locator("td").count() > 12


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_report_does_not_overflow_the_window(page: Page, report: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(report)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_two_protocols_are_side_by_side_in_a_wide_window_and_stacked_on_a_phone(page: Page, report: str) -> None:
    page.goto(report)
    panes = page.locator("#m1-loss-12 .pane")
    left, right = (panes.nth(i).bounding_box() for i in range(2))
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    page.set_viewport_size({"width": 360, "height": 800})
    above, below = (panes.nth(i).bounding_box() for i in range(2))
    assert above is not None
    assert below is not None
    assert above["y"] < below["y"]


def test_the_report_follows_the_colour_scheme_of_the_browser(page: Page, report: str) -> None:
    pictures = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(report)
        pictures.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert len(page.locator("#m1-loss-12").screenshot()) > 0
    assert pictures == ["rgb(255, 255, 255)", "rgb(18, 22, 28)"]


def test_the_report_shows_every_step_on_paper_and_without_javascript(browser: Browser, page: Page, report: str) -> None:
    page.goto(report)
    page.emulate_media(media="print")
    assert len(shown(page)) == 26
    plain = browser.new_page(java_script_enabled=False)
    plain.goto(report)
    assert len(shown(plain)) == 26
    assert plain.locator(".script:visible").count() == 0
    plain.close()
