"""`epochfuzz conform`: its output, its JSON, its exit codes, its saved files and its processes."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import wait
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.harness.cli.output import BadInput
from epochfuzz.harness.conform.run import attempts, run, workers
from epochfuzz.harness.conform.run.block import run_block
from epochfuzz.harness.jobs import processes
from tests.conform.running import HOSTILE, OWN, REFERENCE, ROOT, SUBJECT

DEFECTIVE = (*SUBJECT, "--defect", "shrinking-does-not-advance")
FEW = ("--schedules", "10", "--seed", "2")


def test_conform_exits_with_0_for_a_conforming_adapter_and_prints_the_size_of_the_run(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", *FEW, "--", *REFERENCE)
    assert ended.code == 0
    assert "The system under test conforms to kip-320, checked by lock-step:\n10 schedules and 0 cases, " in ended.out
    assert "steps/s" in ended.out
    assert (
        f"reproduce: epochfuzz conform --protocol kip-320 --replicas 2 {' '.join(FEW)} -- {sys.executable}" in ended.out
    )


@pytest.mark.thorough
def test_the_reproduce_line_names_all_options_of_a_run(epochfuzz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "MOST_ATTEMPTS", 0)  # the findings don't matter here
    case = str(ROOT / "corpus" / "documents" / "m1-loss.yaml")
    words = ["--protocol", "kip-101", "--replicas", "3", "--power-loss", "--judge", "promises", "--max-failures", "2"]
    words += ["--processes-for", "9"]
    words += ["--timeout", "7.5", "--corpus", case, "--schedules", "2", "--seed", "1"]
    assert f"reproduce: epochfuzz conform {' '.join(words)} -- " in epochfuzz("conform", *words, "--", *REFERENCE).out


def test_the_json_of_conform_has_verdict_schedules_findings_and_steps(epochfuzz: Any) -> None:
    document = epochfuzz("conform", *FEW, "--json", "--", *REFERENCE).json
    assert (document["conforms"], document["schedules"], document["findings"]) == (True, 10, [])
    assert document["steps"] > 100


def test_conform_exits_with_1_at_a_difference_and_shows_timeline_field_and_case(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", *FEW, "--", *DEFECTIVE)
    assert ended.code == 1
    assert "difference under kip-320: replicas.A.hw is 0, and 1 in the model" in ended.out
    assert "A drops B from the ISR, which is now A" in ended.out
    saved = ended.out.partition("saved as ")[2].split()[0]
    assert judge(load_case(saved)).as_expected


def test_the_json_of_a_difference_has_schedule_field_and_both_values(epochfuzz: Any) -> None:
    (finding,) = epochfuzz("conform", *FEW, "--json", "--", *DEFECTIVE).json["findings"]
    assert finding["protocol"] == "kip-320"
    assert finding["kind"] == "difference"
    assert finding["events"] == ["produce A", "shrink B"]
    assert finding["length"] == 2
    assert (finding["field"], finding["expected"], finding["observed"]) == ("replicas.A.hw", 1, 0)


def test_a_saved_case_has_the_state_that_the_model_expects(epochfuzz: Any) -> None:
    (finding,) = epochfuzz("conform", *FEW, "--out", "kept", "--json", "--", *DEFECTIVE).json["findings"]
    case = load_case(finding["saved"])
    assert case.path is not None
    assert case.path.parent == Path("kept")
    (state,) = case.states
    assert (state.after, state.observation) == (2, {"replicas": {"A": {"hw": 1}}})


@pytest.mark.thorough
def test_conform_runs_each_case_of_the_corpus_with_the_configuration_of_the_case(epochfuzz: Any) -> None:
    case = ROOT / "corpus" / "documents" / "isr-shrink-and-rejoin.yaml"
    ended = epochfuzz("conform", "--schedules", "0", "--corpus", str(case), "--json", "--", *DEFECTIVE)
    (finding,) = ended.json["findings"]
    assert (ended.json["schedules"], ended.json["cases"]) == (0, 1)
    assert (finding["case"], finding["configuration"]) == ("isr-shrink-and-rejoin", {"replicas": 3})


def test_a_case_is_shrunk_without_configuration_that_the_failure_does_not_need(epochfuzz: Any) -> None:
    case = ROOT / "corpus" / "documents" / "acks-1-loss.yaml"
    words = ("--schedules", "0", "--corpus", str(case), "--json")
    (finding,) = epochfuzz("conform", *words, "--", *SUBJECT, "--defect", "recovery-drops-the-last-batch").json[
        "findings"
    ]
    assert load_case(case).settings.acks == "1"
    assert (finding["case"], finding["configuration"]) == ("acks-1-loss", {"replicas": 2})
    assert finding["events"] == ["produce A", "crash A", "restart A"]


def test_a_differing_log_is_shown_next_to_the_log_of_the_model(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", *FEW, "--", *SUBJECT, "--defect", "recovery-drops-the-last-batch")
    assert "│ replicas.A.log    │ [[m0, 0]] │ []      │" in ended.out


def test_the_epoch_of_a_replica_that_has_learned_no_epoch_is_not_shown_as_different(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", *FEW, "--", *SUBJECT, "--defect", "recovery-drops-the-last-batch")
    assert "A knows no leader" in ended.out
    assert "replicas.A.leader_epoch" not in ended.out


@pytest.mark.thorough
def test_conform_finds_a_corpus_in_the_current_directory(epochfuzz: Any) -> None:
    shutil.copytree(ROOT / "corpus", "corpus")
    ended = epochfuzz("conform", "--schedules", "0", "--json", "--", *REFERENCE)
    assert ended.json["conforms"]
    assert ended.json["cases"] == len(load_corpus(["corpus"]))


def test_conform_ignores_an_empty_corpus_in_the_current_directory(epochfuzz: Any) -> None:
    Path("corpus").mkdir()
    ended = epochfuzz("conform", *FEW, "--json", "--", *HOSTILE, "flood_standard_error", "reset")
    assert (ended.code, ended.json["cases"]) == (4, 0)


def test_conform_shows_findings_despite_an_error_about_an_unsupported_protocol(
    epochfuzz: Any,
) -> None:
    words = ("--protocol", "kip-320", "--protocol", "kip-320:fencing=none", *FEW, "--json", "--", *DEFECTIVE)
    ended = epochfuzz("conform", *words)
    assert ended.code == 2
    assert "the system under test cannot run this protocol and configuration: there is hw" in ended.err
    assert [finding["events"] for finding in ended.json["findings"]] == [["produce A", "shrink B"]]


@pytest.mark.thorough
def test_findings_do_not_depend_on_the_number_of_jobs(epochfuzz: Any) -> None:
    words = ("--schedules", "15", "--seed", "3", "--processes-for", "4", "--json")
    one, two = (epochfuzz("conform", *words, "--jobs", jobs, "--", *DEFECTIVE).json for jobs in ("1", "2"))
    for document in (one, two):
        del document["seconds"], document["steps_per_second"]
    assert one == two
    assert one["findings"]


@pytest.mark.thorough
def test_judge_promises_lists_a_known_bug_of_the_protocol_and_exits_with_0(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MOST_NONCONFORMITIES", 1)
    monkeypatch.setattr(attempts, "MOST_ATTEMPTS", 20)
    words = ("--schedules", "0", "--corpus", str(ROOT / "corpus" / "documents" / "m1-loss.yaml"), "--json")
    ended = epochfuzz("conform", "--protocol", "hw", "--judge", "promises", *words, "--", *REFERENCE)
    assert ended.code == 0
    (finding,) = ended.json["findings"]
    assert finding["field"] == "no-committed-loss"
    assert finding["known_flaw"].startswith("truncation=high_watermark (KAFKA-1211, KAFKA-3919, KIP-101)")
    assert (finding["status"], finding["page"]) == ("known", None)


@pytest.mark.thorough
def test_judge_promises_exits_with_1_at_a_broken_guarantee_and_shows_the_timeline(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MOST_NONCONFORMITIES", 1)
    words = ("--judge", "promises", "--power-loss", "--schedules", "50", "--seed", "1", "--max-failures", "1")
    random = ("--selection", "random")
    ended = epochfuzz("conform", *words, *random, "--", *SUBJECT, "--defect", "recovery-trusts-the-checkpoint")
    assert ended.code == 1
    sentence = "hw-within-log is broken: A's HW 1 is beyond its LEO 0"
    assert f"promise under kip-320: {sentence}" in ended.out
    assert "│ 1 │ produce A" in ended.out


def test_the_json_of_conform_lists_the_fields_that_the_adapter_never_shows(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", "--protocol", "hw", *FEW, "--json", "--", *SUBJECT)
    assert ended.json["never_shown"] == ["replicas.epochs", "producers.acked"]
    assert "power_loss" not in ended.json["never_applied"]


@pytest.mark.thorough
def test_option_processes_for_sets_the_number_of_schedules_of_a_process(epochfuzz: Any) -> None:
    for schedules, started in (("5", 2), ("10", 1)):
        epochfuzz("conform", *FEW, "--processes-for", schedules, "--", *OWN, f"starts-{schedules}")
        assert Path(f"starts-{schedules}").read_text().split() == ["start"] * started


@pytest.mark.thorough
def test_conform_shows_own_fields_of_an_adapter_and_does_not_compare_them(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", *FEW, "--json", "--", *OWN, "starts")
    assert ended.code == 0
    assert ended.json["own_fields"] == ["controller.own.decisions", "replicas.own.flushed"]
    assert ended.json["unknown_fields"] == []
    differing = epochfuzz("conform", *FEW, "--", *OWN, "starts", "wrong")
    assert differing.code == 1
    assert "│ replicas.A.own.flushed" in differing.out


def test_conform_does_not_claim_to_keep_a_campaign_in_a_rejected_directory(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise BadInput("c: another campaign is in this directory")

    monkeypatch.setattr("epochfuzz.harness.commands.conform.platform", lambda *_: nullcontext())
    monkeypatch.setattr("epochfuzz.harness.campaign.run.campaign.Campaign.start_or_load", refuse)
    ended = epochfuzz("conform", "--campaign", "c", *FEW, "--", *REFERENCE)
    assert (ended.code, "another campaign" in ended.err) == (2, True)
    assert "kept in" not in ended.out + ended.err


MISSPELT = """\
import sys
sys.path.insert(0, {root!r})
from tests.conform.reference import Reference, serve
class Misspelt(Reference):
    def observe(self):
        seen = super().observe()
        for replica in seen["replicas"].values():
            replica["high_watermark"] = replica.pop("hw")
        return seen
serve(Misspelt())
"""


def test_conform_exits_with_2_and_suggests_the_name_of_a_misspelt_field(epochfuzz: Any, tmp_path: Path) -> None:
    (tmp_path / "misspelt.py").write_text(MISSPELT.format(root=str(ROOT)), encoding="utf-8")
    ended = epochfuzz("conform", *FEW, "--", sys.executable, str(tmp_path / "misspelt.py"))
    assert ended.code == 2
    assert "replicas.high_watermark (did you mean replicas.hw?)" in ended.out
    assert ended.err.endswith(
        "the adapter shows replicas.high_watermark, and never replicas.hw: rename it, or move it below `own`\n"
    )


def test_conform_prints_the_probability_of_a_new_finding(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", *FEW, "--json", "--", *REFERENCE)
    assert (ended.json["estimate"]["schedules"], ended.json["estimate"]["alone"]) == (10, 0)
    assert (
        "One more such schedule shows a new kind of finding with probability 0 (95% interval: 0 to 0.28)"
    ) in " ".join(ended.err.split())


@pytest.mark.thorough
def test_judge_promises_uses_chosen_schedules_unless_the_user_selects_random_schedules(epochfuzz: Any) -> None:
    words = ("conform", "--judge", "promises", "--schedules", "1", "--seed", "2")
    chosen = epochfuzz(*words, "--", *REFERENCE)
    drawn = epochfuzz(*words, "--selection", "random", "--", *REFERENCE)
    asked = epochfuzz(*words, "--selection", "coverage", "--", *REFERENCE)
    steps = [re.search(r"([\d,]+) steps", each.out).group(1) for each in (chosen, drawn, asked)]
    assert steps[0] == steps[2] != steps[1]
    assert "--selection" not in chosen.out
    assert "--selection random" in " ".join(drawn.out.split())


def test_conform_exits_with_4_if_the_run_checked_nothing(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", *FEW, "--", *HOSTILE, "flood_standard_error", "reset")
    assert ended.code == 4
    assert "This run checked nothing" in ended.out


@pytest.mark.parametrize(
    ("trick", "when", "code"),
    [
        ("show_nasty_text", "event", 1),
        ("refuse_in_nasty_text", "reset", 2),
        ("name_nasty_events", "reset", 1),
        ("print_rubbish", "event", 1),
    ],
)
@pytest.mark.parametrize("judge", ["lock-step", "promises"])
def test_conform_escapes_the_text_of_an_adapter_on_the_terminal(
    epochfuzz: Any, trick: str, when: str, code: int, judge: str
) -> None:
    ended = epochfuzz("conform", *FEW, "--judge", judge, "--", *HOSTILE, trick, when)
    assert ended.code == code
    assert_printable(ended)
    assert "\\x1b" in ended.out + ended.err


def test_a_saved_case_escapes_the_text_of_an_adapter_and_can_be_replayed(epochfuzz: Any) -> None:
    epochfuzz("conform", *FEW, "--out", "kept", "--", *HOSTILE, "show_nasty_text", "event")
    (case,) = load_corpus(["kept"])
    assert "\\x1b[31mred" in case.why
    assert "\\u202e" in case.why
    ended = epochfuzz("replay", "kept")
    assert ended.code == 0
    assert_printable(ended)


def test_an_unknown_replica_is_a_finding_whose_case_can_be_replayed(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", *FEW, "--out", "kept", "--", *HOSTILE, "show_a_replica_too_many", "event")
    assert ended.code == 1
    assert "│ replicas.E │" in ended.out
    assert_printable(ended)
    assert epochfuzz("replay", "kept").code == 0


def test_commands_escape_file_names_on_the_terminal(epochfuzz: Any) -> None:
    nasty = "\x1b]0;title\x07\u202e"
    Path(nasty).mkdir()
    for words in (
        ("replay", nasty),
        ("replay", f"{nasty}.yaml"),
        ("replay", f"--{nasty}"),
        ("conform", *FEW, "--corpus", nasty, "--", *REFERENCE),
        ("conform", *FEW, "--out", f"{nasty}/cases", "--", *DEFECTIVE),
        ("conform", *FEW, "--out", f"{__file__}/{nasty}", "--", *DEFECTIVE),
        ("conform", *FEW, "--", f"{nasty}-no-such-command"),
    ):
        ended = epochfuzz(*words)
        assert ended.code in (1, 2)
        assert_printable(ended)
        assert "\\u202e" in ended.out + ended.err


def assert_printable(ended: Any) -> None:
    text = (ended.out + ended.err).replace("\n", "")
    assert [c for c in text if not c.isprintable()] == []


def test_conform_exits_with_1_and_shows_the_output_of_an_adapter_that_exits(epochfuzz: Any) -> None:
    ended = epochfuzz("conform", *FEW, "--", *HOSTILE, "exit_with_words", "event")
    assert ended.code == 1
    assert "died under kip-320: it exited with status 7" in ended.out
    assert "stderr: out of luck" in ended.out
    assert "Not all schedules were run: too few replies could be checked." in ended.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--", "no-such-command"), "cannot run 'no-such-command'"),
        (("--protocol", "kip-1", "--", "x"), "--protocol: unknown protocol 'kip-1'"),
        (("--replicas", "9", "--", "x"), "--replicas must be from 2 to 5"),
        (("--corpus", "nowhere", "--", "x"), "--corpus: nowhere"),
        (("--judge", "kindly", "--", "x"), "kindly"),
        ((), "Missing argument"),
        (("--master", "local[2]", "--", "x"), "--master and --remote need --campaign DIR"),
        (
            ("--campaign", "c", "--jobs", "2", "--master", "local[2]", "--", "x"),
            "--jobs can't be combined with --master",
        ),
        (("--protocol", "kip-320:fencing=none", "--", *SUBJECT), "the system under test cannot run this protocol"),
    ],
)
def test_conform_rejects_invalid_options_with_exit_code_2_and_a_message(
    epochfuzz: Any, words: tuple[str, ...], complaint: str
) -> None:
    ended = epochfuzz("conform", *words)
    assert ended.code == 2
    assert complaint in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("words", [("--", "no-such-command"), ("--protocol", "kip-320:fencing=none", "--", *SUBJECT)])
def test_conform_leaves_no_file_if_the_command_or_the_protocol_cannot_run(
    epochfuzz: Any, words: tuple[str, ...]
) -> None:
    assert epochfuzz("conform", "--out", "kept", *words).code == 2
    assert list(Path().iterdir()) == []


def test_conform_stops_with_an_error_if_it_cannot_save_cases(epochfuzz: Any) -> None:
    Path("taken").touch()
    ended = epochfuzz("conform", *FEW, "--out", "taken", "--", *DEFECTIVE)
    assert ended.code == 2
    assert "--out: taken" in ended.err


@pytest.mark.parametrize(
    ("age", "said"),
    [
        (4, r"difference under kip-320: controller.epoch is 5, and 0 in the model; after 1 events of schedule 0,"
            r" not shrunk, seen 3 times\ninterrupted after 3 of 10 schedules of seed 2\n"),
        (1, r"interrupted after 0 of 10 schedules of seed 2\n"),
    ],
)  # fmt: skip
def test_conform_shows_findings_seed_and_how_to_continue_after_ctrl_c(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch, age: int, said: str
) -> None:
    monkeypatch.setenv("AGE", str(age))
    interrupts = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ended = epochfuzz("conform", *FEW, "--", *HOSTILE, "differ_until_the_run_is_interrupted", "event")
    finally:
        signal.signal(signal.SIGINT, interrupts)
    assert ended.code == 130
    assert re.search(rf"{said}to continue, and to shrink all failures: epochfuzz conform .* --seed 2 -- ", ended.out)


def test_conform_loses_no_failure_if_ctrl_c_interrupts_shrinking(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("epochfuzz.harness.conform.run.workers.conformance_finding", interrupted)
    ended = epochfuzz("conform", *FEW, "--", *DEFECTIVE)
    assert ended.code == 130
    assert "difference under kip-320: replicas.A.hw is 0, and 1 in the model; after " in ended.out
    assert "interrupted after 10 of 10 schedules of seed 2" in ended.out


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.thorough)])
def test_conform_ends_at_ctrl_c_although_max_failures_is_reached(
    epochfuzz: Any, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    def interrupted_block(*arguments: Any) -> None:
        run_block(*arguments)
        raise KeyboardInterrupt

    def interrupted_wait(running: Any) -> None:
        wait([running[0]])
        raise KeyboardInterrupt

    if jobs == "1":
        monkeypatch.setattr(workers, "run_block", interrupted_block)
    monkeypatch.setattr(processes, "_of_first", interrupted_wait)
    ended = epochfuzz("conform", *FEW, "--max-failures", "1", "--jobs", jobs, "--", *DEFECTIVE)
    assert ended.code == 130
    assert "of 10 schedules of seed 2" in ended.out


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("jobs", "number", "code"), [("1", signal.SIGTERM, 143), ("2", signal.SIGINT, 130), ("2", signal.SIGKILL, -9)]
)
def test_conform_leaves_no_process_after_a_signal(
    jobs: str, number: signal.Signals, code: int, tmp_path: Path, living: Any
) -> None:
    words = [*FEW, "--jobs", jobs, "--timeout", "60", "--", *HOSTILE, "hang_with_children", "event"]
    running = subprocess.Popen(
        [sys.executable, "-m", "epochfuzz", "conform", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while len(living("time.sleep(600)")) < 2 and running.poll() is None:
        time.sleep(0.05)
    running.send_signal(number)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == code
    assert "Traceback" not in errors
    deadline = time.monotonic() + 30
    while living() and number == signal.SIGKILL and time.monotonic() < deadline:
        time.sleep(0.1)  # the workers notice the death of their parent after a moment
    assert living() == []


SLOW = """
import sys, time
from tests.conform import reference

class Slow(reference.Reference):
    def apply(self, event):
        time.sleep(0.2)
        return super().apply(event)

reference.serve(Slow())
"""


@pytest.mark.thorough
def test_ctrl_c_ends_the_workers_of_a_slow_system_before_their_next_block(tmp_path: Path, living: Any) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    words = ["--jobs", "2", "--processes-for", "2", "--schedules", "1000", "--", sys.executable, "slow.py"]
    running = subprocess.Popen(
        [sys.executable, "-m", "epochfuzz", "conform", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while len(living("slow.py")) < 3 and running.poll() is None:  # epochfuzz itself, and two adapters
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    running.wait(timeout=15)  # a worker that took further blocks would take minutes
    deadline = time.monotonic() + 2
    while living() and time.monotonic() < deadline:
        time.sleep(0.05)  # multiprocessing's resource tracker ends when it finds its pipe closed
    assert (running.returncode, living()) == (130, [])
