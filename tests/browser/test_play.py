"""The page of `epochfuzz play` in a real browser: clicked, stepped, branched, asked, saved, and seen on a phone."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.harness.links.position import Position
from epochfuzz.harness.play.server import Application, listen
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.browser.watching import watched

CORPUS = Path(__file__).parents[2] / "corpus"
M1_LOSS = load_case(CORPUS / "documents" / "m1-loss.yaml")
SHORTEST_LOSS = "produce A, fetch B, receive B, fetch B, crash B, restart B, elect B, notify B, notify B"
FIRST = ("hw", "kip-101", "kip-279", "kip-320")
UNEQUAL = "produce A, elect B, notify B, produce B, elect A, catch_up A, produce A"

expect.set_options(timeout=30_000)  # the machine may be busy


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where cases are saved."""
    return tmp_path_factory.mktemp("saved")


@pytest.fixture(scope="module")
def address(directory: Path) -> Iterator[str]:
    """The page, served by this process; it opens with nothing done yet."""
    server = listen(Application(Position(), directory), 0)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield f"http://127.0.0.1:{server.port}/"
    server.shutdown()
    serving.join()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page of which anything that goes wrong in it, or any request to elsewhere, fails the test."""
    with watched(browser, lambda request: request.url.startswith(address)) as (page, troubles):
        yield page
        assert [trouble for trouble in troubles if "status of 400" not in trouble] == []  # for each wrong input


def at(address: str, schedule: str, step: int | None = None, *protocols: str, **settings: Any) -> str:
    """The address of a schedule at a step, under these protocols or all generations."""
    events = parse_schedule(schedule.split(", "))
    chosen = tuple(map(parse_protocol, protocols)) or Position.protocols
    where = Position(
        protocols=chosen, settings=Configuration(**settings), events=events, step=len(events) if step is None else step
    )
    return f"{address}?{where.query()}"


def click(page: Page, event: str) -> None:
    page.locator("#choices a.event", has_text=event).first.click()


def heading(page: Page) -> Locator:
    return page.locator("#step h2")


def panes(page: Page) -> list[str]:
    return page.locator("#step h3").all_inner_texts()


def test_a_click_adds_an_event_and_shows_its_sentence(page: Page, address: str) -> None:
    page.goto(address)
    expect(heading(page)).to_have_text("0 start")
    for event in ("produce A", "fetch B", "receive B", "fetch B"):
        click(page, event)
    expect(heading(page)).to_have_text("4 fetch B")
    assert "A's HW rises to 1; m0 is committed and acknowledged." in page.locator("#step").inner_text()
    assert "events=produce+A,fetch+B,receive+B,fetch+B&step=4" in page.url
    assert "m0 is committed" in page.locator("#said").inner_text()


def test_the_page_follows_a_link_that_is_pressed_while_the_previous_page_loads(page: Page, address: str) -> None:
    page.goto(address)
    asked: list[Route] = []
    page.route("**/?*", lambda route: route.continue_() if asked else asked.append(route))
    click(page, "produce A")
    page.locator("#choices a.event", has_text="fetch B").first.hover()
    page.mouse.down()
    with page.expect_response("**/?*") as answered:
        asked[0].continue_()
    answered.value.finished()
    page.wait_for_timeout(100)
    page.mouse.up()
    expect(heading(page)).to_have_text("2 fetch B")


def test_protocols_are_side_by_side_and_protocols_that_do_not_differ_share_a_pane(page: Page, address: str) -> None:
    page.goto(at(address, ", ".join(schedule_texts(M1_LOSS.events)), 12, *FIRST))
    assert panes(page) == ["hw", "kip-101 and kip-279 alike", "kip-320"]
    boxes = [pane.bounding_box() for pane in page.locator(".pane").all()]
    assert len({box["y"] for box in boxes if box}) == 1
    assert "B truncates m1: its high watermark was 1" in page.locator(".pane").first.inner_text()
    expect(page.locator(".pane", has=page.locator("p.broken"))).to_have_count(1)
    expect(page.locator(".track .broken")).to_have_text(["12", "16"])
    expect(page.locator(".verdicts .known")).to_contain_text(
        "known: truncation=high_watermark (KAFKA-1211, KAFKA-3919, KIP-101)"
    )


def test_events_that_are_not_enabled_show_the_reason_under_each_protocol(page: Page, address: str) -> None:
    page.goto(at(address, "produce A, crash B, restart B, notify B", None, "hw", "kip-320"))
    refused = page.locator(".refused li")
    expect(refused.filter(has_text="restart A")).to_contain_text("A is up")
    expect(refused.filter(has_text="receive B, drop B")).to_contain_text("nothing is in flight to B")
    expect(refused.filter(has_text="fetch B")).to_contain_text("under kip-320: leader A is at epoch 0 and rejects B")
    expect(page.locator("#fetch-B")).to_contain_text("only hw")


def test_keys_step_back_and_forth(page: Page, address: str) -> None:
    page.goto(at(address, SHORTEST_LOSS))
    for key, said in (
        ("ArrowLeft", "8 notify B"),
        ("ArrowLeft", "7 elect B"),
        ("ArrowRight", "8 notify B"),
        ("Home", "0 start"),
        ("End", "9 notify B"),
        ("ArrowRight", "9 notify B"),
    ):
        page.keyboard.press(key)
        expect(heading(page)).to_have_text(said)


def test_the_address_keeps_the_position_for_reload_back_and_forward(page: Page, address: str) -> None:
    page.goto(at(address, SHORTEST_LOSS, 7, "hw", "kip-101"))
    click(page, "crash A")
    expect(heading(page)).to_have_text("8 crash A")
    page.reload()
    expect(heading(page)).to_have_text("8 crash A")
    expect(page.locator(".branches li")).to_have_count(1)
    page.go_back()
    expect(heading(page)).to_have_text("7 elect B")
    page.go_forward()
    expect(heading(page)).to_have_text("8 crash A")


def test_another_event_at_an_earlier_step_creates_a_branch_and_keeps_the_old_events(page: Page, address: str) -> None:
    page.goto(at(address, SHORTEST_LOSS, 6))
    expect(page.locator("#choices .next")).to_contain_text("elect B")
    click(page, "crash A")
    expect(page.locator(".track li")).to_have_count(8)
    branch = page.locator(".branches li")
    expect(branch).to_contain_text("after step 6: elect B, notify B, notify B")
    branch.locator("a").first.click()
    expect(heading(page)).to_contain_text("6 restart B")
    expect(page.locator(".track li")).to_have_count(10)
    expect(branch).to_contain_text("after step 6: crash A")
    branch.locator(".forget").click()
    expect(branch).to_have_count(0)


def test_the_next_event_of_the_schedule_steps_forward_without_a_branch(page: Page, address: str) -> None:
    page.goto(at(address, SHORTEST_LOSS, 6))
    click(page, "elect B")
    expect(heading(page)).to_have_text("7 elect B")
    expect(page.locator(".track li")).to_have_count(10)
    expect(page.locator(".branches li")).to_have_count(0)


def test_the_page_shows_the_state_after_all_faults_have_stopped_if_logs_do_not_converge(
    page: Page, address: str
) -> None:
    page.goto(at(address, UNEQUAL, None, "kip-101", "hw"))
    page.keyboard.press("ArrowRight")
    expect(heading(page)).to_have_text("healed")
    assert "at offset 0 A has m0 and B has m1. \u2716 BROKEN: convergence" in " ".join(
        page.locator(".pane").first.inner_text().split()
    )
    click(page, "crash B")
    expect(heading(page)).to_have_text("8 crash B")


def test_the_form_changes_protocols_and_configuration_and_keeps_the_schedule(page: Page, address: str) -> None:
    page.goto(at(address, SHORTEST_LOSS, 5, *FIRST))
    page.click("#change summary")
    for name in ("kip-101", "kip-279"):
        page.locator(f"#settings input[value='{name}']").uncheck()
    page.locator("#settings input[placeholder]").fill("kip-320:registration=resume")
    page.locator("#settings input[name=replicas]").fill("3")
    page.locator("#settings input[name=power_loss]").check()
    page.click("#settings button")
    expect(page.locator(".verdicts li b")).to_have_text(["hw", "kip-320", "kip-320:registration=resume"])
    expect(heading(page)).to_have_text("5 crash B")
    expect(page.locator(".replica")).to_have_text(["A", "B", "C"])
    expect(page.locator("#power_loss-C")).to_be_visible()
    assert "replicas=3&power_loss=true&events=" in page.url


def test_the_page_suggests_a_name_for_an_unknown_mechanism(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#settings input[placeholder]").fill("kip-320:fencng=none")
    page.click("#settings button")
    expect(page.locator("#mistake")).to_contain_text("unknown mechanism 'fencng'; did you mean 'fencing'?")


def test_a_search_finds_the_shortest_violation_and_a_click_adds_its_events(page: Page, address: str) -> None:
    page.goto(at(address, "produce A, fetch B, receive B", None, "hw", "kip-320"))
    page.select_option("#search [name=seconds]", "120")
    page.click("#search button[type=submit]")
    answer = page.locator("#answer")
    expect(answer).to_contain_text(
        "After 6 events more, hw breaks no-committed-loss. Because of truncation=high_watermark", timeout=120_000
    )
    expect(answer).to_contain_text("No schedule is shorter")
    page.click("#take")
    expect(page.locator(".track li")).to_have_count(10)
    expect(heading(page)).to_have_text("3 receive B")
    page.keyboard.press("End")
    expect(page.locator("p.broken").first).to_contain_text("no-committed-loss")
    page.click("#search button[type=submit]")
    expect(answer).to_contain_text("hw breaks no-committed-loss already, by step 9: go back before that")


def test_a_search_shows_its_progress_and_can_be_cancelled(page: Page, address: str) -> None:
    page.goto(at(address, "produce A", None, "kip-320", replicas=3))
    page.select_option("#search [name=seconds]", "120")
    page.click("#search button[type=submit]")
    answer = page.locator("#answer")
    expect(answer).to_contain_text("states seen in", timeout=120_000)
    page.click("#cancel")
    expect(answer).to_contain_text("Cancelled. Until then: no schedule of up to")
    expect(page.locator("#cancel")).to_be_hidden()


def test_a_schedule_is_saved_as_a_case_and_replaces_a_case_only_on_request(
    page: Page, address: str, directory: Path
) -> None:
    page.goto(at(address, SHORTEST_LOSS))
    page.click("#keep summary")
    page.fill("#save [name=id]", "lost")
    page.click("#save button >> nth=0")
    answer = page.locator("#save .answer")
    expect(answer).to_contain_text("epochfuzz replay")
    saved = load_case(directory / "lost.yaml")
    assert ", ".join(schedule_texts(saved.events)) == SHORTEST_LOSS
    assert judge(saved).as_expected
    assert "although m0 was committed on A" in saved.why

    page.fill("#save [name=why]", "Another story.")
    page.click("#save button >> nth=0")
    expect(answer).to_contain_text("is there already")
    assert load_case(directory / "lost.yaml") == saved
    page.click("#save [name=replace]")
    expect(answer).to_contain_text("Saved as")
    assert load_case(directory / "lost.yaml").why == "Another story."


def test_the_focus_stays_on_a_button_from_step_to_step(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#produce-A").focus()
    for length in (1, 2, 3):
        page.keyboard.press("Enter")
        expect(page.locator(".track li")).to_have_count(length + 1)
    assert page.evaluate("document.activeElement.id") == "produce-A"


def test_the_buttons_come_before_the_picture_and_the_story_on_a_phone(browser: Browser, directory: Path) -> None:
    start = Position(
        protocols=(parse_protocol("hw"),), settings=M1_LOSS.settings, events=M1_LOSS.events, case=M1_LOSS.id
    )
    server = listen(Application(start, directory, story=M1_LOSS.why), 0)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    context = browser.new_context(viewport={"width": 420, "height": 800})
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{server.port}/")
    tops = [page.locator(each).bounding_box() for each in ("#choices", "#step svg >> nth=0", "#story")]
    assert [box["y"] for box in tops if box] == sorted(box["y"] for box in tops if box)
    assert tops[0] is not None
    assert tops[0]["y"] + tops[0]["height"] < 800
    expect(page.locator("output")).to_have_text("step 0 of 25")
    context.close()
    server.shutdown()
    serving.join()


@pytest.mark.parametrize("width", [360, 390, 1400])
def test_the_page_does_not_overflow_the_window(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    long_name = "kip-320:truncate_when=leader_changed_or_epoch_missed,isr_expansion=high_watermark"
    page.goto(at(address, SHORTEST_LOSS, 6, "hw", "kip-101", "kip-320", long_name))
    for summary in page.locator("summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_page_follows_the_colour_scheme_of_the_browser(page: Page, address: str) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(address)
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(255, 255, 255)", "rgb(18, 22, 28)"]


def test_the_page_shows_a_message_if_the_server_has_ended(browser: Browser, directory: Path) -> None:
    server = listen(Application(Position(), directory), 0)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    left = browser.new_page()
    left.goto(f"http://127.0.0.1:{server.port}/")
    expect(left.locator("#lost")).to_be_hidden()
    server.shutdown()
    serving.join()
    click(left, "produce A")
    expect(left.locator("#lost")).to_contain_text("no longer responds")
    left.close()


def test_links_lead_from_step_to_step_without_javascript(browser: Browser, address: str) -> None:
    plain = browser.new_page(java_script_enabled=False)
    plain.goto(address)
    click(plain, "produce A")
    click(plain, "fetch B")
    plain.click("#back")
    expect(heading(plain)).to_have_text("1 produce A")
    plain.close()
