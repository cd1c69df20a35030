"""`epochfuzz campaign report` shows a campaign at any time, and compares several campaigns, without Spark."""

import json
import re
from pathlib import Path

import pytest

from epochfuzz.harness.campaign.run.status import status_of
from epochfuzz.harness.campaign.spark import session
from epochfuzz.harness.campaign.store.history import history
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.campaign.store.location import held
from epochfuzz.harness.views.report import history as history_page
from tests.campaign.conftest import Quiet, copied, parameters, start


@pytest.fixture
def report(epochfuzz, monkeypatch):
    """Runs `epochfuzz campaign report`, and fails if the command starts Spark."""

    def refuse(*where):
        raise AssertionError("Spark was started")

    monkeypatch.setattr(session, "opened", refuse)
    return lambda *words: epochfuzz("campaign", "report", *words)


@pytest.fixture(scope="module")
def earlier(spark, tmp_path_factory):
    """An unfinished campaign with another seed, fewer protocols and fewer findings."""
    asked = parameters(seed=1, schedules=40, block=20)
    campaign = start(spark, tmp_path_factory.mktemp("earlier") / "c", asked)
    campaign.do_blocks(Quiet())
    return campaign.directory.local


def test_the_report_of_a_finished_campaign_shows_date_version_and_configuration(report, undisturbed, tmp_path):
    begun = f"{undisturbed.outcome.begun:%Y-%m-%d %H:%M:%S} UTC"
    page = tmp_path / "c.html"
    ended = report(undisturbed.directory.uri, "--out", page)
    assert ended.code == 0
    head = f"begun {begun}, epochfuzz {undisturbed.parameters.version}, model {undisturbed.parameters.model}\n"
    assert ended.out.startswith(f"{head}seed 7 · replicas=2 ")
    assert "20,000 schedules, " in ended.out
    assert f"<dt>begun</dt><dd>{begun}</dd>" in page.read_text(encoding="utf-8")
    document = report(undisturbed.directory.uri, "--json").json
    assert (document["begun"], document["epochfuzz"]) == (begun, undisturbed.parameters.version)
    assert document["configuration"] == {"replicas": 2}


def test_the_report_of_a_running_campaign_shows_its_progress_and_findings(report, undisturbed, tmp_path):
    directory = copied(undisturbed, tmp_path / "c", "outcome", "findings")
    with held(Path(directory)):
        ended = report(directory)
    assert ended.code == 0
    assert re.search(r"^running; last written .+ ago$", ended.out, re.MULTILINE)
    assert re.search(r"^20,000 schedules · .+/s · 6 findings so far · 0 s left$", ended.out, re.MULTILINE)
    assert re.search(r"│ hw +│ no-committed-loss +│ [\d,]+ +│ \d+, not shrunk yet +│ known bug", ended.out)
    assert "One more such schedule shows a new situation or kind of failure with probability " in ended.out
    assert "not finished" not in ended.out


@pytest.mark.thorough
def test_the_report_of_an_interrupted_campaign_shows_how_to_resume(report, earlier):
    ended = report(earlier)
    assert f"not finished; resume with `epochfuzz campaign resume {earlier}`" in ended.out
    document = report(earlier, "--json").json
    assert (document["state"], document["schedules"], document["seed"]) == ("unfinished", 40, 1)
    assert {found["protocol"] for found in document["findings"]} == {"hw"}


def test_the_report_of_a_new_campaign_says_that_no_block_is_finished(report, spark, tmp_path):
    start(spark, tmp_path / "c", parameters())
    ended = report(tmp_path / "c")
    assert (ended.code, "no block is finished yet" in ended.out) == (0, True)


def test_the_report_of_an_unfinished_campaign_exits_with_1_after_an_unexpected_finding(report, spark, tmp_path):
    protocols = ("kip-320:isr_expansion=high_watermark,truncation=high_watermark",)
    start(spark, tmp_path / "c", parameters(protocols=protocols, schedules=2_000)).do_blocks(Quiet())
    ended = report(tmp_path / "c")
    assert ended.code == 1
    assert "UNEXPECTED" in ended.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("no/campaign",), "no/campaign holds no campaign"),
        (("a", "b"), "a report covers one campaign; got a, b. Compare several with --history"),
        (("--history", "s3a://bucket/c"), "--history compares campaigns on this machine"),
        (("--history", "c", "--sarif", "c.sarif"), "--sarif can't be combined with --history"),
    ],
)
def test_report_rejects_bad_arguments_without_starting_spark(report, words, complaint):
    ended = report(*words)
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err


def test_an_unfinished_campaign_has_no_html_page(report, earlier, tmp_path):
    ended = report(earlier, "--out", tmp_path / "c.html")
    assert ended.code == 2
    assert "--out and --sarif need a finished campaign of schedules" in ended.err


@pytest.fixture(scope="module")
def compared(earlier, undisturbed):
    return history([status_of(LocalTables(undisturbed.directory.local)), status_of(LocalTables(earlier))])


def test_a_history_lists_the_oldest_campaign_first(compared, earlier, undisturbed):
    begun = [campaign.begun for campaign in compared.campaigns]
    assert begun == sorted(begun)
    assert {campaign.directory for campaign in compared.campaigns} == {str(earlier), undisturbed.directory.uri}


def test_each_finding_of_a_history_lists_the_campaigns_that_saw_the_finding(compared):
    by_name = {(line.subject.protocol, line.name): line for line in compared.lines}
    found = [{each.property for each in campaign.so_far.found} for campaign in compared.campaigns]
    for (protocol, name), line in by_name.items():
        assert protocol == "hw"
        assert len(line.found) == 2
        seen_in = [campaign for campaign, names in zip(compared.campaigns, found, strict=True) if name in names]
        assert [campaign for campaign, _ in line.seen] == seen_in
    last_only = {line.name for line in compared.new}
    assert last_only == found[1] - found[0]
    assert {line.name for line in compared.no_longer_seen} == found[0] - found[1]


def test_coverage_grows_by_the_situations_that_no_earlier_campaign_met(compared):
    first, second = ([g for g in compared.growth if g.campaign == campaign] for campaign in compared.campaigns)
    of_hw = next(g for g in second if g.subject.protocol == "hw")
    begun = next((g for g in first if g.subject.protocol == "hw"), None)
    met = [campaign.so_far.met["hw"] for campaign in compared.campaigns]
    assert begun is not None
    assert (begun.met, begun.new, begun.so_far) == (len(met[0]), len(met[0]), len(met[0]))
    assert (of_hw.new, of_hw.so_far) == (len(met[1] - met[0]), len(met[0] | met[1]))


def test_report_shows_a_history_as_a_table_as_json_and_as_a_page_with_plots(report, earlier, undisturbed, tmp_path):
    page = tmp_path / "history.html"
    ended = report("--history", earlier, undisturbed.directory.uri, "--out", page)
    assert ended.code == 0
    assert "Situations met" in ended.out
    assert f"{undisturbed.outcome.begun:%Y-%m-%d %H:%M}, {undisturbed.parameters.version}, seed 7" in ended.out
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 2
    assert "hw breaks no-committed-loss" in text
    document = json.loads(report("--history", earlier, undisturbed.directory.uri, "--json").out)
    assert {campaign["seed"] for campaign in document["campaigns"]} == {1, 7}
    line = next(line for line in document["findings"] if line["property"] == "no-committed-loss")
    assert line["last_seen"].keys() == {"directory", "begun", "version", "model", "seed"}
    assert line["looked"] == 2


def test_the_page_of_a_history_is_deterministic_and_loads_no_external_file(compared):
    text = history_page.render(compared)
    assert text == history_page.render(compared)
    assert re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)""", text) == []


def test_a_finding_of_an_earlier_campaign_is_not_new(undisturbed, tmp_path):
    again = Path(copied(undisturbed, tmp_path / "c"))
    statuses = [status_of(LocalTables(directory)) for directory in (undisturbed.directory.local, again)]
    of_both = history(statuses)
    assert (of_both.new, of_both.no_longer_seen) == ([], [])
    assert [growth.new for growth in of_both.growth if growth.campaign is of_both.campaigns[1]] == [0, 0]
