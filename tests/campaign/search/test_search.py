"""An exhaustive search on Spark has the results of a search in memory, and resumes after a kill."""

from dataclasses import replace

import pytest
from pyspark.errors import PythonException

from epochfuzz.harness.campaign.search.levels import Levels
from epochfuzz.harness.campaign.search.search import SearchCampaign
from epochfuzz.harness.campaign.store.errors import CampaignError, sentence
from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.findings.search_request import SearchRequest
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


def asked(protocol, sought="no-committed-loss", *, depth=None, symmetric=True, **settings):
    return SearchRequest(
        protocol=parse_protocol(protocol),
        settings=Configuration(**settings),
        sought=sought,
        depth=depth,
        symmetric=symmetric,
    )


BROKEN = asked("kip-320:truncation=high_watermark", "isr-complete", records=1, epochs=1)
HELD = asked("kip-320", replicas=3, depth=4)


def in_memory(wanted):
    found = explore(wanted.protocol, wanted.settings, wanted.wanted, depth=wanted.depth, symmetric=wanted.symmetric)
    return numbers(found)


def numbers(found):
    """Return the results of a search without its memory use."""
    return found.states, found.transitions, found.depth, found.complete, found.shortest, found.symmetry


def silent(progress):
    pass


@pytest.mark.thorough
def test_a_search_on_spark_finds_the_schedule_that_a_search_in_memory_finds(spark, tmp_path):
    found = SearchCampaign.start(spark, str(tmp_path / "s"), BROKEN).run(silent)
    assert found.shortest is not None
    assert numbers(found) == in_memory(BROKEN)


def test_a_search_on_spark_counts_the_states_and_transitions_of_a_search_in_memory(spark, tmp_path):
    assert numbers(SearchCampaign.start(spark, str(tmp_path / "s"), HELD).run(silent)) == in_memory(HELD)


@pytest.mark.slow
def test_a_search_on_spark_of_all_reachable_states_is_complete(spark, tmp_path):
    wanted = asked("kip-320", records=1, epochs=0, symmetric=False)
    found = SearchCampaign.start(spark, str(tmp_path / "s"), wanted).run(silent)
    assert found.complete
    assert numbers(found) == in_memory(wanted)


@pytest.mark.thorough
@pytest.mark.parametrize("wanted", [HELD, pytest.param(BROKEN, marks=pytest.mark.slow)], ids=["held", "broken"])
def test_a_search_that_is_killed_within_a_level_resumes_from_the_last_complete_level(
    spark, tmp_path, monkeypatch, wanted
):
    directory = str(tmp_path / "s")
    note = Levels.note

    def dying(levels, counted):
        if counted.level == 2:
            raise KeyboardInterrupt
        note(levels, counted)

    monkeypatch.setattr(Levels, "note", dying)
    with pytest.raises(KeyboardInterrupt):
        SearchCampaign.start(spark, directory, wanted).run(silent)
    monkeypatch.undo()
    depths = []
    found = SearchCampaign.load(spark, directory).run(lambda progress: depths.append(progress.depth))
    assert depths[0] == 2
    assert numbers(found) == in_memory(wanted)
    assert SearchCampaign.load(spark, directory).run(silent) == found


@pytest.mark.thorough
def test_a_search_does_not_start_in_a_directory_that_holds_a_search_or_a_campaign(spark, undisturbed, tmp_path):
    SearchCampaign.start(spark, str(tmp_path / "s"), HELD)
    with pytest.raises(CampaignError, match="already holds a search; resume with `epochfuzz explore --resume"):
        SearchCampaign.start(spark, str(tmp_path / "s"), HELD)
    with pytest.raises(CampaignError, match="already holds a campaign"):
        SearchCampaign.start(spark, undisturbed.directory.uri, HELD)


def test_a_directory_without_a_search_or_of_another_model_cannot_be_resumed(spark, tmp_path):
    with pytest.raises(CampaignError, match="holds no search; `epochfuzz explore --out"):
        SearchCampaign.load(spark, str(tmp_path / "nothing"))
    SearchCampaign.start(spark, str(tmp_path / "s"), replace(HELD, model="0" * 16))
    with pytest.raises(CampaignError, match="was begun with model 0000"):
        SearchCampaign.load(spark, str(tmp_path / "s"))


def test_a_worker_with_another_model_ends_the_search(spark, tmp_path):
    with pytest.raises(PythonException) as failure:
        SearchCampaign.start(spark, str(tmp_path / "s"), replace(HELD, model="0" * 16)).run(silent)
    assert "needs model 0000" in sentence(str(failure.value))


def test_explore_prints_equal_json_on_spark_and_in_memory(epochfuzz, tmp_path):
    words = ("explore", "--protocol", "kip-320", "--property", "no-committed-loss", "--depth", 2, "--json")
    ended = epochfuzz(*words, "--out", tmp_path / "s")
    expected = epochfuzz(*words)
    assert ended.code == expected.code
    measured = ("transitions_per_second", "bytes_per_state")
    assert {key: value for key, value in ended.json.items() if key not in measured} == {
        key: value for key, value in expected.json.items() if key not in measured
    }
    assert epochfuzz("explore", "--resume", tmp_path / "s", "--json").json["states"] == ended.json["states"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--protocol", "hw", "--master", "local[2]"], "--master needs --out"),
        (["--out", "a", "--resume", "b", "--records", "2"], "--out and --records can't be combined with --resume"),
        (["--protocol", "hw", "--out", "a", "--jobs", "2", "--remote", "sc://b"], "--remote can't be combined"),
        ([], "give --protocol for a new search"),
    ],
)
def test_explore_rejects_conflicting_or_missing_options(epochfuzz, words, complaint):
    ended = epochfuzz("explore", *words)
    assert ended.code == 2
    assert complaint in " ".join(ended.err.split())
