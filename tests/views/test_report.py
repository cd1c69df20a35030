"""The report: its tables, a file that loads no other file, and quoted text that is never markup."""

import re
from dataclasses import replace
from html import escape, unescape
from pathlib import Path

from epochfuzz.harness.cases.case import Expectation, load_case
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.harness.documents.records import Discovery
from epochfuzz.harness.engine.explore.estimate import Estimate
from epochfuzz.harness.reference import issues
from epochfuzz.harness.views.report import from_cases, html
from epochfuzz.harness.views.report.page import BROKEN, HELD, KNOWN, CoverageSection, TableCell
from epochfuzz.model.kafka.vocabulary.events import parse_schedule

DOCUMENTS = Path(__file__).parents[2] / "corpus" / "documents"
M1_LOSS = load_case(DOCUMENTS / "m1-loss.yaml")
COVERAGE = CoverageSection(
    met={"hw": 12},
    unreached={"hw": ["elect with an empty ISR"]},
    curve=[Discovery(1, 3), Discovery(100, 10), Discovery(10_000, 12)],
    estimate=Estimate(schedules=10_000, alone=10, probability=0.001, low=0.0005, high=0.002),
)


def page_of(*cases):
    return from_cases.page([judge(case) for case in cases])


def words(text: str) -> str:
    """Return the words of a page that a reader sees."""
    body = re.sub(r"<(style|script|svg).*?</\1>", " ", text, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def cell(rows, row: str, column: int) -> TableCell:
    return next(each for each in rows if each.name == row).cells[column]


def test_the_table_says_where_each_protocol_breaks_each_property():
    page = page_of(M1_LOSS)
    assert page.protocols == ("hw", "kip-101", "kip-279", "kip-320")
    assert cell(page.properties, "no-committed-loss", 0) == TableCell(KNOWN, "at step 16, as expected", "m1-loss")
    assert cell(page.properties, "no-committed-loss", 1) == TableCell(HELD, "held")
    assert page.summary == "1 case, all as expected"


def test_the_table_counts_the_cases_that_break_a_property_and_links_the_earliest_break():
    page = page_of(M1_LOSS, load_case(DOCUMENTS / "residual-loss.yaml"))
    assert cell(page.properties, "no-committed-loss", 0) == TableCell(KNOWN, "in 2 of 2, as expected", "residual-loss")
    assert cell(page.cases, "m1-loss", 0) == TableCell(KNOWN, "broken at step 16, as expected", "m1-loss")


def test_a_case_that_is_not_as_expected_is_marked_as_broken_with_the_reason():
    page = page_of(replace(M1_LOSS, expect={"hw": Expectation(())}, states=()))
    assert page.summary == "1 case, 1 NOT as expected"
    assert cell(page.cases, "m1-loss", 0).kind == BROKEN
    assert page.exhibits[0].kind == BROKEN
    assert page.exhibits[0].notes[0].startswith("Not as expected under hw: nothing was expected to break, but")


def test_a_property_that_breaks_as_expected_is_not_marked_as_broken():
    text = html.render(page_of(M1_LOSS))
    assert "no-acked-loss at step 16, isr-complete at step 12 (as expected)" in words(text)
    assert '<li class="broken">' not in text
    unexpected = html.render(page_of(replace(M1_LOSS, expect={"hw": Expectation(())}, states=())))
    assert '<li class="broken">' in unexpected
    assert "as expected)" not in words(unexpected)


def test_the_legend_comes_before_the_timeline():
    text = html.render(page_of(M1_LOSS))
    assert text.index('class="legend"') < text.index('class="timeline"')


def test_the_report_contains_the_sentences_of_steps_under_both_protocols():
    said = words(html.render(page_of(M1_LOSS)))
    assert "They part at step 12, notify B." in said
    assert "B truncates m1: its high watermark was 1, although m1 was committed on A" in said
    assert "BROKEN: no-committed-loss, no-acked-loss" in said
    assert "epochfuzz replay" in said


def test_a_case_that_does_not_converge_ends_with_the_state_after_all_faults_have_stopped():
    events = parse_schedule(["produce A", "elect B", "notify B", "produce B", "elect A", "catch_up A", "produce A"])
    unequal = replace(M1_LOSS, events=events, expect={"kip-101": Expectation(("convergence",))}, states=())
    said = words(html.render(page_of(unequal)))
    assert "until nothing changes; at offset 0 A has m0 and B has m1. \u2716 BROKEN: convergence" in said


def test_the_report_escapes_markup_in_the_text_of_a_case():
    text = html.render(page_of(replace(M1_LOSS, why='</p><script>alert("&")</script>')))
    assert text.count("<script>") == 1
    assert '</p><script>alert("&")</script>' in words(text)


def test_the_report_loads_nothing_and_links_only_to_issues_and_the_playground():
    page = replace(page_of(M1_LOSS), coverage=COVERAGE)
    text = html.render(page)
    references = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)""", text)
    assert references
    outside = [each for each in references if not each.startswith(("#", "data:text/yaml"))]
    linked = [issues.link(found[0]) for found in issues.NUMBER.finditer(M1_LOSS.why)]
    plays = [escape(shown.play) for shown in page.exhibits if shown.play]
    assert len(plays) == 1
    assert sorted(outside) == sorted([*linked, *plays])
    assert all(f'<a href="{each}">' in text for each in outside)
    assert "default-src 'none'" in text


def test_rendering_a_page_twice_returns_identical_files():
    page = replace(page_of(M1_LOSS), coverage=COVERAGE)
    assert html.render(page) == html.render(page)


def test_the_report_shows_coverage_if_coverage_was_measured():
    page = page_of(M1_LOSS)
    assert "situations met" not in words(html.render(page))
    text = html.render(replace(page, coverage=COVERAGE))
    said = words(text)
    assert "with a probability of 1 in 1,000 (95% interval: 1 in 2,000 to 1 in 500)" in said
    assert "10 of 10,000 schedules showed something that no other one did" in said
    assert "hw 12 situations met 1 within reach and never met elect with an empty ISR" in said
    assert "10,000" in text[text.index("pygal-chart") : text.index("</svg>", text.index("pygal-chart"))]
