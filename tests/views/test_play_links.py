"""Links to `play`: each command prints one for its finding, and it opens the position that it names."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.bundled import bundled_cases
from epochfuzz.harness.cli.cases import protocols_for
from epochfuzz.harness.links.play_link import LOCAL, VARIABLE, base_address, play_link
from epochfuzz.harness.links.position import MOST_PROTOCOLS, Position, parse_query
from epochfuzz.harness.play.pages import Pages
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import NAMED
from epochfuzz.strategies.project import ProjectError, look_in
from tests.conftest import Ended

SITE = "https://example.org/play/"
UNFENCED = "kip-320:fencing=none"
PAGES = Pages(Position())


@pytest.fixture(autouse=True)
def site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SITE)


def links(text: str) -> list[str]:
    """The links in the lines that begin with `play:`."""
    return re.findall(r"^play: (\S+)", text, re.MULTILINE)


def opened(link: str) -> Position:
    """The position that the page of a link shows."""
    base, _, query = link.partition("?")
    assert base == SITE
    answer = PAGES.page(query)
    assert answer.status == 200
    assert answer.query == query
    return parse_query(query)


def test_replay_links_each_case_of_the_corpus_at_its_start(epochfuzz: Any) -> None:
    for case in bundled_cases():
        (link,) = links(epochfuzz("replay", case.id).out)
        there = opened(link)
        assert (there.case, there.events, there.settings, there.step) == (case.id, case.events, case.settings, 0)
        assert [protocol.name for protocol in there.protocols] == list(protocols_for(case, None))[:MOST_PROTOCOLS]


def test_explain_links_the_start_of_a_case(epochfuzz: Any) -> None:
    (link,) = links(epochfuzz("explain", "m1-loss").out)
    assert links(epochfuzz("replay", "m1-loss").out) == [link]
    assert opened(link).step == 0


def test_replay_links_of_several_cases_only_those_that_are_not_as_expected(epochfuzz: Any, tmp_path: Path) -> None:
    for name, broken in (("right", "[no-committed-loss]"), ("wrong", "[]")):
        events = ["produce A", "fetch B", "receive B", "fetch B", "crash B", "restart B", "elect B", "notify B"]
        text = f"schema: 1\nid: {name}\nwhy: A loss.\nevents: [{', '.join([*events, 'notify B'])}]\n"
        (tmp_path / f"{name}.yaml").write_text(f"{text}expect: {{hw: {{broken: {broken}}}}}\n")
    (link,) = links(epochfuzz("replay", tmp_path).out)
    assert opened(link).case == "wrong"


def breaks(there: Position, protocol: str, property_: str) -> bool:
    """Whether the page of a position shows that its step breaks a property under its first protocol."""
    text = PAGES.page(there.query()).text
    shown = re.findall(r"BROKEN: ([^<]*)", text)
    return there.protocols[0].name == protocol and any(property_ in each for each in shown)


def test_fuzz_links_each_finding_at_the_step_that_breaks_the_property(epochfuzz: Any) -> None:
    protocols = ("--protocol", "hw", "--protocol", UNFENCED)
    ended = epochfuzz("fuzz", *protocols, "--schedules", 3000, "--seed", 3, "--certify", 0, "--json")
    found = {(each["protocol"], tuple(each["events"])): each["property"] for each in ended.json["findings"][::-1]}
    seen = [opened(link) for link in links(ended.err)]
    assert {(each.protocols[0].name, tuple(schedule_texts(each.events))) for each in seen} == set(found)
    for there in seen:
        protocol, events = there.protocols[0].name, tuple(schedule_texts(there.events))
        assert breaks(there, protocol, found[protocol, events])


@pytest.mark.parametrize(
    "words",
    [
        ("explore", "--protocol", "hw", "--property", "no-committed-loss", "--records", 1, "--epochs", 1),
        ("shrink", "m1-loss", "--protocol", "hw", "--certify", 0),
        ("fuzz", "--breaks", "hw", "--holds", "kip-101", "--records", 1, "--epochs", 1),
    ],
    ids=["explore", "shrink", "fuzz --breaks"],
)
def test_a_search_links_the_schedule_that_it_finds(epochfuzz: Any, words: tuple[object, ...]) -> None:
    ended: Ended = epochfuzz(*words, "--json")
    (link,) = links(ended.err)
    assert schedule_texts(opened(link).events) == ended.json.get("events", ended.json.get("shortest"))
    assert breaks(opened(link), "hw", "no-committed-loss")


def test_conform_links_the_models_run_of_a_difference(epochfuzz: Any, tmp_path: Path) -> None:
    adapter = ("--", sys.executable, "-m", "tests.conform.wrong", "permissive")
    ended = epochfuzz("conform", "--schedules", 200, "--seed", 1, "--out", tmp_path, "--json", *adapter)
    finding = ended.json["findings"][0]
    there = opened(links(ended.err)[0])
    assert schedule_texts(there.events) == finding["events"]
    assert (there.step, there.protocols[0].name) == (len(finding["events"]), finding["protocol"])


def test_a_link_without_a_site_opens_the_local_play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE)
    look_in(tmp_path)
    assert base_address() == LOCAL
    (tmp_path / "pyproject.toml").write_text('[tool.epochfuzz]\nplay_url = "https://example.com/p/"\n')
    assert base_address() == "https://example.com/p/"
    monkeypatch.setenv(VARIABLE, SITE)
    assert base_address() == SITE
    look_in(None)


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "example.org", "https://", "https://a/?b", "https://a/#b", "https://a/ b", "ftp://a/"],
)
def test_an_address_that_is_not_of_a_site_is_rejected_before_a_run(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(VARIABLE, address)
    with pytest.raises(ProjectError):
        base_address()
    ended = epochfuzz("replay", "m1-loss")
    assert ended.code == 2
    assert ended.err.startswith(f"epochfuzz: {VARIABLE}: an address such as https://example.org/play/")


def test_a_schedule_that_play_cannot_draw_has_no_link() -> None:
    events = parse_schedule(["produce A"] * 501)
    assert play_link(NAMED.values(), Configuration(), events) is None


def test_a_link_names_at_most_the_protocols_that_fit_side_by_side() -> None:
    link = play_link(NAMED.values(), Configuration(), parse_schedule(["produce A"]))
    assert link is not None
    assert len(opened(link).protocols) == MOST_PROTOCOLS
