"""Links to `play`: each command prints one for its finding, and it opens the position that it names."""

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.bundled import bundled_cases
from epochfuzz.harness.cli.cases import protocols_for
from epochfuzz.harness.links.play_link import LOCAL, VARIABLE, base_address, play_link
from epochfuzz.harness.links.position import MOST_PROTOCOLS
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import NAMED
from epochfuzz.strategies.project import ProjectError, look_in
from tests.conform.running import SUBJECT
from tests.conftest import Ended
from tests.views.opening import SITE, breaks, links, opened

UNFENCED = "kip-320:fencing=none"


@pytest.fixture(autouse=True)
def site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SITE)


@pytest.mark.thorough
def test_cases_and_replay_link_each_case_of_the_corpus_at_its_start(epochfuzz: Any) -> None:
    listed = {each["id"]: each["play"] for each in epochfuzz("cases", "--json").json["cases"]}
    assert listed.keys() == {case.id for case in bundled_cases()}
    for case in bundled_cases():
        ended = epochfuzz("replay", case.id, "--json")
        (link,) = links(ended.err)
        assert ended.json["cases"][0]["play"] == listed[case.id] == link
        there = opened(link)
        assert (there.case, there.events, there.settings, there.step) == (case.id, case.events, case.settings, 0)
        assert [protocol.name for protocol in there.protocols] == list(protocols_for(case, None))[:MOST_PROTOCOLS]


def test_cases_links_a_single_match_and_names_the_command_for_several_matches(epochfuzz: Any) -> None:
    (link,) = links(epochfuzz("cases", "isr-expansion").out)
    assert opened(link).case == "kafka-7128-isr-expansion"
    several = epochfuzz("cases", "m1-loss").out
    assert links(several) == []
    assert "`epochfuzz play m1-loss` opens m1-loss in your browser" in several


def test_explain_links_the_start_of_a_case(epochfuzz: Any) -> None:
    ended = epochfuzz("explain", "m1-loss", "--json")
    (link,) = links(ended.err)
    assert links(epochfuzz("replay", "m1-loss").out) == [ended.json["play"]] == [link]
    assert opened(link).step == 0


def test_replay_of_several_cases_links_only_the_cases_that_are_not_as_expected(epochfuzz: Any, tmp_path: Path) -> None:
    for name, broken in (("right", "[no-committed-loss]"), ("wrong", "[]")):
        events = ["produce A", "fetch B", "receive B", "fetch B", "crash B", "restart B", "elect B", "notify B"]
        text = f"schema: 1\nid: {name}\nwhy: A loss.\nevents: [{', '.join([*events, 'notify B'])}]\n"
        (tmp_path / f"{name}.yaml").write_text(f"{text}expect: {{hw: {{broken: {broken}}}}}\n")
    (link,) = links(epochfuzz("replay", tmp_path).out)
    assert opened(link).case == "wrong"


def test_replay_on_an_adapter_links_the_first_difference(epochfuzz: Any) -> None:
    defective = shlex.join((*SUBJECT, "--defect", "recovery-drops-the-last-batch"))
    ended = epochfuzz("replay", "m1-loss", "-p", "hw", "-p", "kip-101", "--subject", defective, "--json")
    for each in ended.json["cases"]:
        there = opened(each["play"])
        assert (there.case, [protocol.name for protocol in there.protocols]) == ("m1-loss", [each["protocol"]])
        assert there.step == (each["differs"] or {"after": 0})["after"]
    assert links(ended.err) == [each["play"] for each in ended.json["cases"] if each["differs"]] != []


@pytest.mark.thorough
def test_fuzz_links_each_finding_at_the_step_that_breaks_the_property(epochfuzz: Any) -> None:
    protocols = ("--protocol", "hw", "--protocol", UNFENCED)
    ended = epochfuzz("fuzz", *protocols, "--schedules", 3000, "--seed", 3, "--certify", 0, "--json")
    first = {(each["protocol"], tuple(each["events"])): each["play"] for each in ended.json["findings"][::-1]}
    assert sorted(links(ended.err)) == sorted(first.values()) != []
    for each in ended.json["findings"]:
        there = opened(each["play"])
        assert (schedule_texts(there.events), there.settings.changed()) == (
            each["events"],
            ended.json["configuration"],
        )
        assert breaks(there, each["protocol"], each["property"])


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
    assert ended.json["play"] == link
    there = opened(link)
    assert schedule_texts(there.events) == ended.json.get("events", ended.json.get("shortest"))
    assert there.settings.changed() == ended.json.get("configuration", {"replicas": 2})
    assert breaks(there, "hw", "no-committed-loss")


def test_a_search_that_finds_no_schedule_has_no_link(epochfuzz: Any) -> None:
    words = ("--property", "no-committed-loss", "--records", 1, "--epochs", 1, "--depth", 3, "--json")
    ended = epochfuzz("explore", "--protocol", "kip-320", *words)
    assert (links(ended.err), ended.json["play"], ended.json["shortest"]) == ([], None, None)


@pytest.mark.thorough
def test_conform_links_the_models_run_of_a_difference(epochfuzz: Any, tmp_path: Path) -> None:
    adapter = ("--", sys.executable, "-m", "tests.conform.wrong", "permissive")
    ended = epochfuzz("conform", "--schedules", 200, "--seed", 1, "--out", tmp_path, "--json", *adapter)
    finding = ended.json["findings"][0]
    assert links(ended.err)[0] == finding["play"]
    there = opened(finding["play"])
    assert (schedule_texts(there.events), there.settings.changed()) == (finding["events"], finding["configuration"])
    assert (there.step, there.protocols[0].name) == (len(finding["events"]), finding["protocol"])


def test_the_address_of_links_is_from_the_environment_or_the_project_or_is_the_local_play(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
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
def test_replay_rejects_an_invalid_address_of_a_site_before_the_run(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(VARIABLE, address)
    with pytest.raises(ProjectError):
        base_address()
    ended = epochfuzz("replay", "m1-loss")
    assert ended.code == 2
    assert ended.err.startswith(f"epochfuzz: {VARIABLE}: an address such as https://example.org/play/")


def test_a_schedule_that_play_cannot_draw_has_no_link(epochfuzz: Any, tmp_path: Path) -> None:
    events = ["produce A"] * 501
    assert play_link(NAMED.values(), Configuration(), parse_schedule(events)) is None
    (tmp_path / "long.yaml").write_text(f"schema: 1\nid: long\nwhy: Long.\nevents: [{', '.join(events)}]\n")
    ended = epochfuzz("replay", tmp_path / "long.yaml", "--protocol", "hw", "--json")
    assert (links(ended.err), ended.json["cases"][0]["play"]) == (["the"], None)


def test_a_link_names_at_most_the_protocols_that_fit_side_by_side() -> None:
    link = play_link(NAMED.values(), Configuration(), parse_schedule(["produce A"]))
    assert link is not None
    assert len(opened(link).protocols) == MOST_PROTOCOLS
