"""`epochfuzz campaign`: JSON, exit codes, error messages and printed results."""

import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest

from epochfuzz.harness.campaign.conformance.conformance_job import Trials
from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.spark import session
from epochfuzz.harness.campaign.store.directory import CampaignDirectory
from epochfuzz.harness.campaign.walks.parameters import SCHEMA
from epochfuzz.harness.cli import main as cli
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.campaign.conftest import parameters
from tests.conform.running import REFERENCE

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]


def process(*arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", "from harness.cli.main import main; main()", "campaign", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def is_alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


WALK = ("--protocol", "hw", "--schedules", "2000", "--seed", "7")


@pytest.fixture(scope="module")
def walked(spark, tmp_path_factory):
    """Run a campaign with the command. Returns its directory, exit code and output."""
    place = tmp_path_factory.mktemp("walked") / "c"
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(session, "opened", lambda *where: nullcontext(spark))
        patch.setattr(sys, "argv", ["epochfuzz", "campaign", "run", "--out", str(place), *WALK])
        with pytest.raises(SystemExit) as ended:
            cli.main()
    return SimpleNamespace(place=place, code=ended.value.code, out=out.getvalue(), err=err.getvalue())


def test_memory_and_unreached_situations_are_in_the_json_and_not_on_the_terminal(epochfuzz, walked):
    for noise in ("twice", "MiB", "HW at its LEO"):
        assert noise not in walked.out + walked.err
    document = epochfuzz("campaign", "report", walked.place, "--json").json
    assert document["checked"]["memory"] > 50 << 20
    assert any("HW at its LEO" in each for each in document["unreached"]["hw"])


def test_the_json_of_a_campaign_has_the_fields_and_findings_of_fuzz(epochfuzz, walked):
    code, campaign, _ = epochfuzz("campaign", "report", walked.place, "--json")
    assert code == 0
    fuzz_code, fuzz, _ = epochfuzz("fuzz", *WALK, "--json")
    campaign, fuzz = json.loads(campaign), json.loads(fuzz)
    assert code == fuzz_code
    assert fuzz.keys() <= campaign.keys()
    for key in ("seed", "schedules", "events", "goals", "reproduce"):
        assert campaign[key] == fuzz[key], key
    fields = ("protocol", "property", "length", "certified_minimal", "seen")
    for one, other in zip(campaign["findings"], fuzz["findings"], strict=True):
        assert [one[key] for key in fields] == [other[key] for key in fields]
    assert campaign["events_per_second"] > 0


def test_report_prints_the_results_of_run_and_writes_html_and_sarif(epochfuzz, walked, tmp_path):
    assert "hw breaks no-committed-loss" in walked.out, walked.err
    assert f"epochfuzz campaign report {walked.place}" in walked.err
    assert epochfuzz("campaign", "report", walked.place)[:2] == (walked.code, walked.out)

    files = ("--out", tmp_path / "c.html", "--sarif", tmp_path / "c.sarif")
    assert epochfuzz("campaign", "report", walked.place, *files)[0] == walked.code
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "hw breaks no-committed-loss and no-acked-loss in 9 events" in page
    assert " within reach and never met</summary>" in page
    assert "blocks walked twice, and equal" in page
    assert re.search(r"most memory of a worker</dt><dd>[1-9][0-9]* MiB", page)
    (log,) = json.loads((tmp_path / "c.sarif").read_text(encoding="utf-8"))["runs"]
    assert "no-committed-loss" in [result["ruleId"] for result in log["results"]]


def test_a_campaign_exits_with_1_if_a_protocol_breaks_a_property_that_should_hold(epochfuzz, tmp_path):
    walk = ("--protocol", "kip-320:isr_expansion=high_watermark,truncation=high_watermark", "--schedules", 2_000)
    ended = epochfuzz("campaign", "run", "--out", tmp_path / "c", "--seed", 1, *walk, "--json")
    assert ended.code == 1
    assert {finding["known_flaw"] for finding in ended.json["findings"]} == {None}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("run", "--schedules", 5), "Missing option '--out'"),
        (("run", "--out", "c", "--schedules", 5, "--for", "5s"), "--schedules can't be combined with --for"),
        (("run", "--out", "c", "--for", "5"), "--for: a duration is a number and s, m or h"),
        (("run", "--out", "c", "--protocol", "kip-1"), "--protocol: unknown protocol 'kip-1'"),
        (("run", "--out", "c", "--replicas", 9), "--replicas must be "),
        (("run", "--out", "c", "--master", "local", "--remote", "sc://h"), "--master can't be combined with --remote"),
        (("resume", "no/campaign"), "no/campaign holds no campaign"),
        (("report", "no/campaign"), "no/campaign holds no campaign"),
    ],
)
def test_campaign_stops_at_bad_arguments_with_exit_code_2_and_a_message(epochfuzz, arguments, complaint):
    code, out, err = epochfuzz("campaign", *arguments)
    assert (code, out) == (2, "")
    assert complaint in err
    assert "Traceback" not in err


@pytest.mark.slow  # the command starts a JVM
def test_campaign_reports_an_invalid_master_in_two_lines_that_name_the_log():
    out, err = (bad := process("run", "--out", "c", "--master", "nonsense")).communicate(timeout=120)
    assert (bad.returncode, out) == (2, "")
    assert "epochfuzz: Spark failed: Master must either be yarn or start with spark, k8s, or local; its log, " in err
    assert len(err.splitlines()) == 2
    Path(err.split("its log, ")[1].removesuffix(", has more\n")).unlink()


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_control_c_and_sigterm_end_a_campaign_that_can_be_resumed(epochfuzz, tmp_path, number, code):
    (tmp_path / "elsewhere").mkdir()
    walk = ("--for", "10m", "--protocol", "hw", "--seed", 7)
    running = process("run", "--out", tmp_path / "c", *walk, TMPDIR=str(tmp_path / "elsewhere"))
    deadline = time.monotonic() + 240
    while not list(tmp_path.glob("c/blocks/wave=*/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "running; last written " in epochfuzz("campaign", "report", tmp_path / "c").out
    os.kill(running.pid, number)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (code, "")
    assert f"not finished; resume with: epochfuzz campaign resume {tmp_path / 'c'}" in err
    assert "Traceback" not in err
    while is_alive(running.pid) and time.monotonic() < deadline:
        time.sleep(0.05)  # the JVM ends a moment after the driver
    assert not is_alive(running.pid)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (tmp_path / "c" / "temporary").exists()
    assert "not finished; resume with" in epochfuzz("campaign", "report", tmp_path / "c").out


@pytest.mark.slow
@pytest.mark.parametrize("later", [0.0, 0.5, 2.0])
def test_control_c_during_worker_startup_is_not_reported_as_a_failure_of_spark(tmp_path, later):
    running = process("run", "--out", tmp_path / "c", "--for", "10m", "--protocol", "hw", "--seed", 7)
    while not (tmp_path / "c" / "parameters").exists() and running.poll() is None:
        time.sleep(0.01)
    time.sleep(later)
    os.kill(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert "Spark failed" not in err


def test_campaign_resume_of_a_conformance_campaign_asks_to_repeat_its_command(epochfuzz, spark, tmp_path):
    plan = Plan(command=("x",), protocols=[parse_protocol("kip-320")], settings=Configuration(), schedules=1, seed=1)
    Campaign.start(spark, str(tmp_path), Trials(plan))
    code, out, err = epochfuzz("campaign", "resume", tmp_path)
    assert (code, out) == (2, "")
    assert "holds a campaign of conformance; repeat the command that began it" in err
    assert "not finished; repeat the command" in epochfuzz("campaign", "report", tmp_path).out


def test_a_conformance_campaign_with_only_a_time_limit_ends_and_prints_how_to_resume(epochfuzz, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)  # where the adapter is found
    words = ("conform", "--campaign", tmp_path / "c", "--for", "1s", "--certify", 0)
    ended = epochfuzz(*words, "--seed", 1, "--", *REFERENCE)
    assert ended.code == 0
    assert f"--campaign {tmp_path / 'c'} --for 1s --schedules 1000000000 --seed 1" in ended.out
    done = int(re.search(r"([\d,]+) schedules", ended.out)[1].replace(",", ""))
    assert 0 < done < 100_000
    resumed = epochfuzz(*words, "--", *REFERENCE)
    assert resumed.code == 0
    assert "--schedules 1000000000 --seed 1" in resumed.out


def test_the_printed_report_command_can_be_pasted_into_a_shell(epochfuzz, walked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(walked.place, "it's tonight")
    ended = epochfuzz("campaign", "report", "it's tonight")
    (command,) = re.findall(r"show again with: (.*)", ended.err)
    program, *words = shlex.split(command)
    assert program == "epochfuzz"
    assert epochfuzz(*words).out == ended.out


def test_campaign_resume_rejects_parameters_of_an_unknown_engine(epochfuzz, spark, tmp_path):
    row = parameters().row() | {"engine": "telepathy"}
    CampaignDirectory(spark, str(tmp_path)).write_rows([row], SCHEMA, "parameters")
    code, out, err = epochfuzz("campaign", "resume", tmp_path)
    assert (code, out) == (2, "")
    assert "parameters cannot be used: engine must be one of walk, hypothesis, conformance" in err


MACHINE = """
from hypothesis.stateful import RuleBasedStateMachine, rule

class Idle(RuleBasedStateMachine):
    @rule()
    def wait(self):
        pass
"""


def test_the_driver_and_workers_import_a_machine_from_the_current_directory(epochfuzz, tmp_path, monkeypatch):
    (tmp_path / "idle_machines.py").write_text(MACHINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    of_mine = ("--engine", "hypothesis", "--machine", "idle_machines:Idle")
    code, out, err = epochfuzz("campaign", "run", "--out", "c", *of_mine, "--schedules", 1, "--seed", 1)
    assert code == 0, err
    assert "1 runs of idle_machines:Idle" in out


@pytest.mark.parametrize("name", ["other_machines:Idle", None])
def test_resume_imports_the_machine_of_a_campaign_only_if_the_user_names_it(
    epochfuzz, spark, tmp_path, monkeypatch, name
):
    (tmp_path / "idle_here.py").write_text(f"raise SystemExit('it was imported')\n{MACHINE}")
    monkeypatch.chdir(tmp_path)
    asked = parameters(protocols=(), schedules=1, engine="hypothesis", machine="idle_here:Idle", block=1)
    CampaignDirectory(spark, "c").write_rows([asked.row()], SCHEMA, "parameters")
    code, out, err = epochfuzz("campaign", "resume", "c", *([] if name is None else ["--machine", name]))
    assert (code, out) == (2, "")
    assert (
        f"c is a campaign of the state machine idle_here:Idle. To resume it, epochfuzz imports idle_here from"
        f" {tmp_path / 'idle_here.py'}; allow that with --machine idle_here:Idle"
    ) in err
    shown = epochfuzz("campaign", "report", "c").out
    assert f"resume with `epochfuzz campaign resume {tmp_path / 'c'} --machine idle_here:Idle`" in shown


def test_a_campaign_of_a_machine_resumes_if_the_user_names_the_machine(epochfuzz, spark, tmp_path, monkeypatch):
    (tmp_path / "idle_again.py").write_text(MACHINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    asked = parameters(protocols=(), schedules=1, engine="hypothesis", machine="idle_again:Idle", block=1)
    CampaignDirectory(spark, "c").write_rows([asked.row()], SCHEMA, "parameters")
    assert epochfuzz("campaign", "resume", "c", "--machine", "idle_again:Idle").code == 0
    ended = epochfuzz("campaign", "report", "c")
    assert "1 runs of idle_again:Idle" in ended.out


def test_resume_rejects_a_machine_option_for_a_campaign_of_schedules(epochfuzz, undisturbed):
    code, _, err = epochfuzz("campaign", "resume", undisturbed.directory.uri, "--machine", "a:B")
    assert (code, "is not a campaign of your own state machine" in err) == (2, True)
