"""Comparison of findings with the corpus, and the command `corpus add`."""

import json
from dataclasses import replace

import pytest

from epochfuzz.harness.cases import comparison
from epochfuzz.harness.cases.case import Case, Expectation, dump_case, load_case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.documents.records import Unseen
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.findings import findings as fuzz
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

pytestmark = pytest.mark.thorough


class NoDisplay:
    """A display that ignores the findings."""

    def doing(self, what):
        pass

    def found(self, findings):
        pass


HW = parse_protocol("hw")
LOSS = ["produce A", "fetch B", "receive B", "fetch B", "crash B", "restart B", "notify B", "elect B", "notify B"]
BROKEN = ("no-committed-loss", "no-acked-loss", "isr-complete")


def case(**changes):
    made = Case(
        id="m1",
        why="A record is lost.",
        settings=Configuration(),
        events=parse_schedule(LOSS),
        expect={"hw": Expectation(BROKEN, 9)},
    )
    return replace(made, **changes)


@pytest.fixture(scope="module")
def found():
    walker = Walker([HW], Configuration(), seed=7)
    broken = fuzz.breaches([HW], Configuration(), walker.walk(0, 3_000))
    return fuzz.findings(walker, broken, NoDisplay()).findings


def compare(found, *corpus):
    return comparison.compare(found, [HW], Configuration(), corpus)


def test_a_finding_that_no_case_shows_is_not_in_the_corpus(found):
    assert set(compare(found).known) == {None}


def test_a_finding_matches_a_case_with_equal_events(found):
    known = dict(zip((finding.property for finding in found), compare(found, case()).known, strict=True))
    assert known["no-committed-loss"] == known["no-acked-loss"] == "m1"
    assert known["no-divergence"] is None
    said = list(comparison.comparison_lines(found, compare(found, case())))
    assert "hw breaks no-committed-loss: in the corpus, as case m1" in said
    assert "hw breaks no-divergence: not in the corpus" in said


def test_a_finding_matches_a_case_with_independent_events_in_another_order(found):
    other = parse_schedule([*LOSS[:6], "elect B", "notify B", "notify B"])
    assert compare(found, case(events=other)).known[0] == "m1"


def test_a_finding_matches_a_case_with_other_bounds_but_not_with_more_replicas(found):
    elsewhere = case(settings=Configuration(replicas=3))
    assert compare(found, elsewhere) == compare(found)
    assert compare(found, case(settings=Configuration(records=4))).known[0] == "m1"


def test_the_comparison_lists_expected_violations_that_the_run_did_not_find(found):
    rare = case(expect={"hw": Expectation(("log-matching",), 9), "kip-101": Expectation(("no-divergence",), 9)})
    assert compare(found, rare).no_longer_seen == (Unseen("m1", "hw", "log-matching"),)
    assert compare(found, case()).no_longer_seen == ()


@pytest.fixture
def epochfuzz(epochfuzz, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return epochfuzz


@pytest.fixture
def offered(tmp_path):
    path = tmp_path / "m1.yaml"
    path.write_text(dump_case(case()))
    return path


def test_corpus_add_shows_a_case_and_saves_it_in_corpus_found(epochfuzz, offered, tmp_path):
    code, out, _ = epochfuzz("corpus", "add", offered, "--yes")
    assert code == 0
    assert "m0 is lost" in out
    assert "added corpus/found/m1.yaml" in out
    assert load_case(tmp_path / "corpus" / "found" / "m1.yaml") == case()


def test_corpus_add_saves_no_case_without_confirmation(epochfuzz, offered, monkeypatch, tmp_path):
    monkeypatch.setattr("typer.confirm", lambda *texts, **options: False)
    assert epochfuzz("corpus", "add", offered)[0] == 0
    assert not (tmp_path / "corpus").exists()


def test_corpus_add_does_not_save_a_case_twice(epochfuzz, offered):
    epochfuzz("corpus", "add", offered, "--yes")
    code, out, _ = epochfuzz("corpus", "add", offered, "--yes")
    assert code == 0
    assert "m1: already kept as corpus/found/m1.yaml" in out


def test_corpus_add_lists_added_and_known_cases_in_its_json(epochfuzz, offered):
    for document in (
        {"added": ["corpus/found/m1.yaml"], "known": {}},
        {"added": [], "known": {"m1": "corpus/found/m1.yaml"}},
    ):
        assert json.loads(epochfuzz("corpus", "add", offered, "--yes", "--json")[1]) == document


def test_corpus_add_renames_a_different_case_with_an_existing_name(epochfuzz, offered):
    epochfuzz("corpus", "add", offered, "--yes")
    offered.write_text(dump_case(case(events=parse_schedule(["produce A"]), expect={})))
    assert "added corpus/found/m1-2.yaml" in epochfuzz("corpus", "add", offered, "--yes")[1]
    assert [each.id for each in load_corpus(["corpus"])] == ["m1-2", "m1"]


def test_corpus_add_names_the_line_of_the_error_in_an_invalid_case(epochfuzz, offered):
    offered.write_text("schema: 1\nid: NO\nwhy: x\nevents: []\n")
    code, _, err = epochfuzz("corpus", "add", offered)
    assert code == 2
    assert "m1.yaml:4: events has 0 events" in err
