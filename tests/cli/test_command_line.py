"""The command line: JSON, exit codes, and clear messages for invalid arguments."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.cli import main as cli
from epochfuzz.harness.views import progress
from tests.printed import check_json

DOCUMENTS = Path(__file__).parents[2] / "corpus" / "documents"


def epochfuzz(*arguments, input=""):
    """Run a command in this process, which compiles and loads everything only once. Returns the ended command."""
    command = ["epochfuzz", *map(str, arguments)]
    with (
        patch.object(sys, "argv", command),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(input.encode()))),
        redirect_stdout(io.StringIO()) as out,
        redirect_stderr(io.StringIO()) as err,
        pytest.raises(SystemExit) as ended,
    ):
        cli.main()
    check_json(command[1:], out.getvalue())
    return subprocess.CompletedProcess(command, int(ended.value.code or 0), out.getvalue(), err.getvalue())


def result(*arguments, exit_code=0):
    ended = epochfuzz(*arguments, "--json")
    assert ended.returncode == exit_code, ended.stderr
    return json.loads(ended.stdout)


WEAKEST = "kafka-0.10.2:cache_truncation=with_log,pending_produce=kept,follower_high_watermark=own_end"
PROVEN = ("--certify", "all")  # however busy the machine is


def complaint(*arguments):
    ended = epochfuzz(*arguments)
    assert ended.returncode == 2, ended
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
    return ended.stderr


def test_fuzz_finds_a_lost_record_and_proves_that_the_schedule_is_shortest():
    walked = ("fuzz", "--protocol", "hw", "--protocol", "kip-320", "--schedules", "20000", "--seed", "7")
    found = result(*walked, *PROVEN)
    assert found["seed"] == 7
    assert found["schedules"] == 20000
    assert found["events_per_second"] > 0
    lost = next(
        each for each in found["findings"] if (each["protocol"], each["property"]) == ("hw", "no-committed-loss")
    )
    assert lost["length"] == len(lost["events"]) == 9
    assert lost["certified_minimal"] is True
    assert lost["seen"] > 0
    assert set(found["goals"]) == {"hw", "kip-320"}


@pytest.fixture
def ctrl_c(monkeypatch):
    """Return a function that sets up one Ctrl-C, at the first progress report for which `when` is true."""

    def at(name, when):
        report = getattr(progress.LiveLine, name)
        presses = iter([True])

        def pressing(shown, *what):
            report(shown, *what)
            if when(*what) and next(presses, False):
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(progress.LiveLine, name, pressing)

    return at


def test_fuzz_interrupted_by_ctrl_c_prints_its_findings_and_a_command_that_shrinks_them(ctrl_c):
    ctrl_c("walked", lambda tally, elapsed: tally.schedules == 5_000)
    ended = epochfuzz("fuzz", "--protocol", "hw", "--schedules", "900000000", "--seed", "7", "--jobs", "1")
    assert ended.returncode == 130
    assert "interrupted" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert re.search(r"hw breaks no-committed-loss: [0-9,]+ schedules, the shortest after \d+ events", ended.stdout)
    shrink = re.search(r"epochfuzz (fuzz --protocol hw --replicas 2) --schedules (\d+) --seed 7$", ended.stdout, re.M)
    assert int(shrink[2]) >= 5_000
    assert epochfuzz(*shrink[1].split(), "--schedules", "2000", "--seed", "7").returncode == 0


def test_fuzz_interrupted_during_a_proof_prints_every_finding_as_unproven(ctrl_c):
    walked = ("fuzz", "--protocol", "hw", "--schedules", "2000", "--seed", "7", "--json", *PROVEN)
    whole = json.loads(epochfuzz(*walked).stdout)["findings"]
    ctrl_c("doing", lambda what: what == "certifying")
    ended = epochfuzz(*walked)
    assert ended.returncode == 130
    assert "interrupted" in ended.stderr
    known = json.loads(ended.stdout)["findings"]
    assert [each["property"] for each in known] == [each["property"] for each in whole]
    assert not any(each["certified_minimal"] for each in known)


@pytest.mark.thorough
def test_certify_0_skips_the_proofs_and_does_not_change_the_findings():
    walked = ("fuzz", "--protocol", "hw", "--schedules", "2000", "--seed", "7")
    proven, unproven = result(*walked, "--certify", "all")["findings"], result(*walked, "--certify", "0")["findings"]
    assert [each["seen"] for each in unproven] == [each["seen"] for each in proven]
    assert {each["searched"] for each in unproven} == {0}
    assert all(each["searched"] == each["length"] for each in proven)
    assert "not searched for anything shorter" in epochfuzz(*walked, "--certify", "0").stdout


def test_an_unfinished_proof_reports_the_length_that_the_search_reached():
    walked = ("fuzz", "--protocol", "kip-279", "--replicas", "3", "--schedules", "20000", "--seed", "1")
    found = result(*walked, "--certify", "2s")["findings"]
    unproven = [each for each in found if not each["certified_minimal"]]
    assert "no-committed-loss" in [each["property"] for each in unproven]  # which takes minutes, on any machine
    assert all(each["searched"] < each["length"] for each in unproven)


@pytest.mark.thorough
def test_fuzz_prints_one_line_for_a_known_bug_and_a_trace_for_a_new_finding():
    walked = ("fuzz", "--protocol", "hw", "--schedules", "2000", "--seed", "7", *PROVEN)
    known = epochfuzz(*walked).stdout
    line = "hw breaks no-committed-loss and no-acked-loss in 9 events, certified minimal: known bug: "
    assert line + "truncation=high_watermark (KAFKA-1211, KAFKA-3919, KIP-101)" in known
    assert "LEO 0->1" not in known
    assert "LEO 0->1" in epochfuzz(*walked, "--trace").stdout
    new = epochfuzz("fuzz", "--protocol", "kip-320:truncation=high_watermark", "--schedules", "2000", "--seed", "1")
    assert "LEO 0->1" in new.stdout


def test_the_findings_of_a_seed_do_not_depend_on_the_number_of_jobs():
    one, three = (
        result("fuzz", "--protocol", "hw", "--schedules", "6000", "--seed", "11", "--jobs", jobs, *PROVEN)
        for jobs in (1, 3)
    )
    assert one["findings"] == three["findings"]
    assert (one["events"], one["goals"]) == (three["events"], three["goals"])


def test_fuzz_exits_with_1_if_a_schedule_breaks_a_property_that_should_hold():
    protocol = "kip-320:truncation=high_watermark"
    found = result("fuzz", "--protocol", protocol, "--schedules", "20000", "--seed", "1", exit_code=1)
    assert {each["known_flaw"] for each in found["findings"]} == {None}


def test_fuzz_exits_with_4_if_a_required_goal_is_unmet():
    assert result("fuzz", "--protocol", "kip-320", "--schedules", "1", "--seed", "1", exit_code=4)["unmet_goals"]


def test_fuzz_finds_a_shortest_schedule_that_distinguishes_hw_from_kip_101():
    found = result("fuzz", "--breaks", "hw", "--holds", "kip-101")
    assert (found["property"], found["length"], found["certified_minimal"]) == ("no-committed-loss", 9, True)


def test_no_schedule_within_small_bounds_breaks_kip_320_but_not_hw():
    found = result("fuzz", "--breaks", "kip-320", "--holds", "hw", "--records", "1", "--epochs", "1")
    assert found["events"] is None


def test_a_search_for_a_distinguishing_schedule_ends_when_its_time_is_up():
    arguments = ("--breaks", "kip-320", "--holds", "hw", "--replicas", "3")
    found = result("fuzz", *arguments, "--for", "1s", exit_code=4)
    assert found["events"] is None


@pytest.mark.thorough
def test_ablation_finds_the_shortest_loss_without_each_mechanism():
    # Kafka 0.11 to 1.1 have KIP-101, and earlier releases don't. In all of these releases, pending produce requests
    # fail when the leader loses its leadership.
    bounds = ("--records", "2", "--epochs", "3")
    found = result("fuzz", "--ablate", "kafka-1.1", *bounds, *PROVEN, "--schedules", "20000", "--seed", "1")
    lengths = {
        each["protocol"]: each["length"] for each in found["findings"] if each["property"] == "no-committed-loss"
    }
    assert lengths == {
        "kafka-1.1": 14,
        "kafka-1.1:truncation=high_watermark": 9,
        "kafka-1.1:pending_produce=kept": 14,
    }
    assert found["guards_nothing"] == []


@pytest.mark.thorough
def test_ablation_prints_its_budget_and_each_row_as_soon_as_the_row_is_complete():
    command = [sys.executable, "-m", "epochfuzz", "fuzz", "--ablate", "kip-101", "--for", "2s", "--seed", "1"]
    started = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        lines = [(line.rstrip("\n"), time.monotonic() - started) for line in running.stdout]
    assert running.returncode == 0
    assert any("variants in 2 s" in line for line, _ in lines)
    rows = [came for line, came in lines if re.match(r"kip-101\S*: no-committed-loss \d+", line)]
    assert len(rows) > 3
    assert rows[0] < rows[-1] - 0.1 < lines[-1][1]


def test_explore_proves_that_kip_320_holds_within_small_bounds():
    found = result("explore", "--protocol", "kip-320", "--records", "2", "--epochs", "2")
    assert (found["complete"], found["broken"], found["length"], found["shortest"]) == (True, False, None, None)


def test_explore_finds_the_same_schedule_with_any_number_of_jobs_and_without_symmetry():
    words = ["explore", "--protocol", "hw", "--records", "1", "--epochs", "1"]
    found = [result(*words, *more) for more in (["--jobs", "1"], ["--jobs", "3"], ["--no-symmetry"])]
    assert [each["length"] for each in found] == [9, 9, 9]
    for each in found:
        del each["transitions_per_second"]
    assert found[0] == found[1]
    assert found[0]["shortest"] == found[2]["shortest"]
    assert found[0]["states"] < found[2]["states"]


@pytest.mark.thorough
def test_explore_reports_an_incomplete_search_if_memory_runs_out():
    found = result("explore", "--protocol", "kip-320", "--replicas", "3", "--memory", "0.1", exit_code=4)
    assert (found["complete"], found["broken"]) == (False, False)


def test_replay_shows_that_hw_loses_a_record_and_kip_101_does_not():
    (case,) = result("replay", DOCUMENTS / "m1-loss.yaml")["cases"]
    assert case["as_expected"] is True
    assert "no-committed-loss" in case["protocols"]["hw"]["broken"]
    assert case["protocols"]["kip-101"]["broken"] == []


def test_replay_reports_that_a_case_has_no_expectation_for_a_protocol():
    arguments = ("replay", DOCUMENTS / "m1-loss.yaml", "--protocol", "kip-320:fencing=none")
    assert "the case does not say" in epochfuzz(*arguments).stdout


def test_replay_exits_with_1_if_a_case_is_not_as_expected(tmp_path):
    case = tmp_path / "wrong.yaml"
    case.write_text(
        "schema: 1\nid: wrong\nwhy: Wrong.\nevents: [produce A]\nexpect:\n  hw: {broken: [no-divergence]}\n"
    )
    assert result("replay", case, exit_code=1)["cases"][0]["as_expected"] is False


def test_shrink_prints_a_case_that_replays(tmp_path):
    ended = epochfuzz("shrink", DOCUMENTS / "m1-loss.yaml", "--protocol", "hw")
    assert ended.returncode == 0, ended.stderr
    shrunk = tmp_path / "shrunk.yaml"
    shrunk.write_text(ended.stdout)
    (case,) = result("replay", shrunk)["cases"]
    assert case["protocols"]["hw"]["at"] == 9


def test_the_story_of_a_shrunk_case_describes_the_shrunk_schedule(tmp_path):
    shrunk = tmp_path / "shrunk.yaml"
    shrunk.write_text(epochfuzz("shrink", DOCUMENTS / "m1-loss.yaml", "--protocol", "hw").stdout)
    why = load_case(shrunk).why
    assert why.startswith("Shrunk from m1-loss: hw breaks no-committed-loss. (1) A appends m0 at offset 0")
    assert "m0 is lost" in why
    assert "m1" not in why.replace("m1-loss", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fuzz", "--protocol", "hv"], "unknown protocol 'hv'"),
        (["fuzz", "--protocol", "hw:fencing"], "a mechanism is replaced as mechanism=choice"),
        (["fuzz", "--replicas", "9"], "epochfuzz: --replicas must be from 2 to 5; got 9"),
        (["fuzz", "--acks", "2"], "acks must be 0, 1 or all; got '2'"),
        (["fuzz", "--schedules", "0"], "--schedules"),
        (["fuzz", "--for", "soon"], "a duration is a number and s, m or h"),
        (["fuzz", "--for", "1s", "--schedules", "5"], "give only one"),
        (["fuzz", "--protocol", "hw", "--property", "nope"], "unknown property 'nope'"),
        (["fuzz", "--protocol", "hw", "--property", "no-divergence"], "--property needs --breaks and --holds"),
        (["fuzz", "--breaks", "hw", "--holds", "hw"], "--breaks and --holds name the same protocol"),
        (
            ["fuzz", "--breaks", "hw", "--holds", "kip-101", "--schedules", "5"],
            "--schedules can't be combined with --breaks and --holds",
        ),
        (
            ["fuzz", "--breaks", "hw", "--holds", "kip-101", "--ablate", "hw"],
            "--ablate can't be combined with --breaks and --holds",
        ),
        (["fuzz", "--ablate", "kip-320", "--protocol", "hw"], "--protocol can't be combined with --ablate"),
        (["fuzz", "--breaks", "hw"], "--breaks needs --holds"),
        (
            ["fuzz", "--ablate", WEAKEST],
            f"{WEAKEST} has no mechanism that can be switched back; name a later protocol",
        ),
        (
            ["fuzz", "--certify", "soon"],
            "such as 60s or 8h, or 0 or all; got 'soon'",
        ),
        (
            ["fuzz", "--breaks", "hw", "--holds", "kip-101", "--certify", "0"],
            "--certify can't be combined with --breaks and --holds",
        ),
        (["fuzz", "--sede", "7"], "No such option: --sede"),
        (["fuss"], "No such command 'fuss'"),
        (["fuzz", "--schedules", "x"], "--schedules must be a whole number of at least 1; got 'x'"),
        (["play", "--port", "70000"], "--port must be from 0 to 65535; got '70000'"),
        (["conform", "--judge", "lock", "--", "x"], "--judge must be lock-step or promises; got 'lock'"),
        (["conform", "--timeout", "nan", "--", "x"], "--timeout must be from 0.01 to 1000000; got 'nan'"),
        (["conform", "--schedules", "1", "--for", "1m", "--", "x"], "--for needs --exhaustive"),
        (["explore", "--protocol", "hw", "--property", "no-loss"], "unknown property 'no-loss'"),
        (["explore"], "give --protocol for a new search"),
        (["replay", "no-such-file.yaml"], "no-such-file.yaml"),
        (["shrink", str(DOCUMENTS / "m1-loss.yaml"), "--protocol", "kip-101"], "nothing to shrink"),
    ],
)
def test_a_command_with_invalid_arguments_stops_with_a_clear_message(arguments, message):
    assert message in " ".join(complaint(*arguments).split())


def test_the_message_for_an_invalid_case_names_the_file_and_the_line(tmp_path):
    case = tmp_path / "bad.yaml"
    case.write_text("schema: 1\nid: bad\nwhy: Bad.\nevents:\n  - produce A\n  - fetsch B\n")
    assert f"{case}:6:" in "".join(complaint("replay", case).splitlines())


def test_piped_output_has_no_trailing_spaces():
    shown = epochfuzz("replay", DOCUMENTS / "m1-loss.yaml", "--trace").stdout
    assert "LEO 0->1" in shown
    assert [line for line in shown.splitlines() if line.endswith(" ")] == []


def test_a_piped_table_does_not_truncate_the_names_of_cases_and_protocols(tmp_path):
    name = "a-case-" + "of-a-long-name-" * 8 + "indeed"
    case = tmp_path / "case.yaml"
    case.write_text(f"schema: 1\nid: {name}\nwhy: W.\nevents: [produce A]\nexpect:\n  hw: {{broken: []}}\n")
    protocol = "kip-320:truncation=high_watermark,registration=resume"
    rows = epochfuzz("replay", case, "--protocol", protocol).stdout.splitlines()
    assert any(name in row and protocol in row for row in rows)


@pytest.mark.thorough
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["for people", "JSON"])
def test_fuzz_exits_with_141_if_its_output_pipe_is_closed(more):
    reading, writing = os.pipe()
    os.close(reading)
    options = ("--protocol", "hw", "--schedules", "2000", "--seed", "1")
    command = [sys.executable, "-m", "epochfuzz", "fuzz", *options, *more]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(writing)
    assert ended.returncode == 141
    assert "Traceback" not in ended.stderr
    assert "Exception" not in ended.stderr


def test_a_message_prints_line_100_as_a_number_and_not_as_an_emoji(tmp_path):
    case = tmp_path / "bad.yaml"
    case.write_text("schema: 1\nid: bad\nwhy: Bad.\n" + "#\n" * 95 + "events:\n  - fetsch B\n")
    assert f"{case}:100:" in "".join(complaint("replay", case).splitlines())


def test_corpus_add_suggests_the_option_yes_if_stdin_has_no_answer(tmp_path):
    arguments = ("corpus", "add", DOCUMENTS / "m1-loss.yaml", "--corpus", tmp_path / "corpus")
    ended = epochfuzz(*arguments)
    assert ended.returncode == 2
    assert "without a question with --yes" in ended.stderr
    assert not (tmp_path / "corpus").exists()
    assert epochfuzz(*arguments, input="y\n").returncode == 0


def test_replay_of_a_directory_replays_the_valid_cases_and_exits_with_2_for_an_invalid_file(tmp_path):
    shutil.copy(DOCUMENTS / "m1-loss.yaml", tmp_path)
    (tmp_path / "zzz.yaml").write_text("schema: 2\n")
    ended = epochfuzz("replay", tmp_path)
    assert ended.returncode == 2
    assert "m1-loss" in ended.stdout
    assert f"{tmp_path}/zzz.yaml:1" in ended.stderr.replace("\n", "")


def test_replay_reads_a_case_from_stdin_but_cannot_rewrite_stdin():
    case = (DOCUMENTS / "m1-loss.yaml").read_text()
    assert "m1-loss" in epochfuzz("replay", "-", input=case).stdout
    assert "-:1: the case has no 'id'" in epochfuzz("replay", "-", input="schema: 1\n").stderr
    assert "standard input (-) is not a file" in complaint("replay", "-", "--rewrite")
