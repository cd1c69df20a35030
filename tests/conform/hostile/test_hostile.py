"""Adapters that hang, exit, print rubbish or change their replies are clear findings, and leave no process."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind, SubjectFailed
from epochfuzz.harness.conform.protocol.process import KEPT_OUTPUT, CommandError, LineProcess
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.protocol.wire import config_of
from epochfuzz.harness.conform.run.block import MOST_UNJUDGED
from epochfuzz.harness.conform.run.drive import MOST_NAMES
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.conform.run.run import run as run_plan
from epochfuzz.harness.conform.run.workers import Processes
from epochfuzz.harness.views.conformance import summary, unknown_fields
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.running import HOSTILE, ROOT, conform, reproducer, zombies

Living = Callable[[str], list[str]]
PATIENCE = 0.3  # seconds, for adapters that exceed any patience


LONG_LINE = 1 << 20  # more than a pipe holds
NEVER_READS = "import time; time.sleep(600)"
PRINTS_FIRST = "import sys; sys.stderr.write('x' * (1 << 20)); sys.stdin.readline(); print('read', flush=True)"


KNOWS_ONE_PROTOCOL = """
import sys
for line in sys.stdin:
    if '"op": "event"' in line:
        print('{"applied": false, "observation": {"controller": {"epoch": 5}}}', flush=True)
    elif '"kip-320"' in line:
        print('{"ok": true, "events": ["restart"]}', flush=True)
    else:
        print('{"ok": false, "error": "only kip-320"}', flush=True)
"""


PLAN = Plan(command=HOSTILE, protocols=[parse_protocol("kip-320")], settings=Configuration(), schedules=20, seed=1)


def run(trick: str, when: str = "event", **arguments: Any) -> Conformance:
    return conform((*HOSTILE, trick, when), schedules=20, **arguments)


def only_fault(conformance: Conformance) -> Discrepancy:
    assert not conformance.conforms
    (nonconformity,) = conformance.nonconformities
    return nonconformity.fault


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("trick", "kind", "message"),
    [
        ("exit_with_words", DiscrepancyKind.DIED, "it exited with status 7"),
        ("be_killed", DiscrepancyKind.DIED, "it was killed by SIGKILL"),
        ("be_killed_by_a_signal_without_a_name", DiscrepancyKind.DIED, "it was killed by signal 40"),
        ("print_rubbish", DiscrepancyKind.GARBAGE, "a reply that does not follow the protocol: not JSON: '"),
        (
            "answer_a_reset",
            DiscrepancyKind.GARBAGE,
            "a reply that does not follow the protocol: applied: Field required",
        ),
        ("answer_twice", DiscrepancyKind.GARBAGE, "it printed more than the one line that answers"),
        (
            "show_many_fields",
            DiscrepancyKind.GARBAGE,
            "a reply that does not follow the protocol: it has more than 2,000 values",
        ),
        ("flood_a_line", DiscrepancyKind.FLOOD, "a line of more than 1,048,576 bytes"),
    ],
)
def test_an_adapter_without_a_valid_reply_is_a_finding(trick: str, kind: DiscrepancyKind, message: str) -> None:
    conformance = run(trick)
    fault = only_fault(conformance)
    assert (fault.kind, fault.field) == (kind, None)
    assert str(fault.observed).startswith(message)
    assert reproducer(conformance) in (["restart A"], ["restart B"])
    assert len(fault.output) < 3 * KEPT_OUTPUT


@pytest.mark.parametrize("trick", ["hang", "trickle"])
def test_a_late_adapter_is_a_finding_and_ends_the_run(trick: str) -> None:
    conformance = run(trick, patience=PATIENCE)
    fault = only_fault(conformance)
    assert (fault.kind, fault.observed) == (DiscrepancyKind.TIMEOUT, f"no answer within {PATIENCE} s")
    assert (conformance.given_up, conformance.schedules) == (True, 1)


def test_a_request_that_the_adapter_does_not_read_times_out() -> None:
    process = LineProcess((sys.executable, "-I", "-S", "-c", NEVER_READS))
    with pytest.raises(SubjectFailed, match="no line was read within 1 s"):
        process.ask(b"x" * LONG_LINE + b"\n", 1.0)
    process.kill()


def test_an_adapter_may_print_more_than_a_pipe_holds_before_it_reads() -> None:
    process = LineProcess((sys.executable, "-I", "-S", "-c", PRINTS_FIRST))
    assert process.ask(b"x" * LONG_LINE + b"\n", 30.0) == b"read"
    process.kill()


def test_an_adapter_that_closes_its_standard_output_is_a_finding() -> None:
    assert only_fault(run("close_standard_output", "reset")).observed == "it closed its standard output"


def test_a_finding_includes_the_output_of_an_adapter_that_exited() -> None:
    assert "stderr: out of luck" in only_fault(run("exit_with_words")).output


def test_a_finding_escapes_control_characters_in_the_output_of_an_adapter() -> None:
    output = only_fault(run("print_rubbish")).output
    assert "INFO starting \\x1b[31mup" in output
    assert "\x1b" not in output


def test_a_record_with_an_oversized_number_is_an_invalid_reply() -> None:
    fault = only_fault(run("show_a_record_of_many_digits", judged_by=JudgedBy.PROMISES))
    assert (fault.kind, str(fault.observed)[:22]) == (DiscrepancyKind.GARBAGE, "a log has 'm1111111111")
    assert len(fault.sentence) < 1_000


def test_conform_remembers_a_limited_number_of_unknown_fields() -> None:
    conformance = run("show_fields_that_are_always_new")
    assert conformance.conforms
    assert len(conformance.shown.fields) == MOST_NAMES
    assert max(map(len, unknown_fields(conformance, PLAN))) < 300
    (line,) = (line for line in summary(conformance, PLAN) if line.startswith("Fields that mean nothing"))
    assert line.endswith("and 970 more")
    assert len(line) < 2_000


def test_an_adapter_may_write_any_amount_of_log_to_standard_error() -> None:
    assert run("flood_standard_error").conforms


def test_an_adapter_that_exits_at_a_reset_is_a_finding_without_events_and_ends_the_run() -> None:
    conformance = run("exit_with_words", "reset")
    assert (conformance.given_up, conformance.schedules, reproducer(conformance)) == (True, 1, [])


def test_conform_restarts_an_adapter_that_dies_up_to_a_limit() -> None:
    conformance = run("be_killed")
    assert (conformance.given_up, conformance.nonconformities[0].seen) == (True, MOST_UNJUDGED)


@pytest.mark.parametrize("age", range(1, 9))
def test_an_adapter_that_dies_after_a_number_of_requests_is_a_finding(
    age: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGE", str(age))
    conformance = run("die_of_age", "any")
    assert not conformance.conforms
    for one in conformance.nonconformities:
        assert (one.fault.kind is DiscrepancyKind.DIED) == (age <= 2), (
            "a fresh process shows it again if the schedule is enough"
        )
        assert "with status 9" in one.fault.sentence


def test_an_adapter_that_dies_at_the_first_reset_is_a_finding_without_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGE", "1")
    assert reproducer(run("die_of_age", "any")) == []


def test_an_adapter_that_rejects_a_later_reset_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGE", "3")
    conformance = run("become_unable", "reset")
    assert (conformance.given_up, conformance.schedules) == (True, 3)
    assert only_fault(conformance).observed == "it cannot run it: no longer"


def test_findings_under_a_protocol_are_kept_if_the_adapter_rejects_the_next_protocol() -> None:
    script = (*HOSTILE[:-1], "-c", KNOWS_ONE_PROTOCOL)
    plan = Plan(
        command=script,
        protocols=[parse_protocol("kip-320"), parse_protocol("hw")],
        settings=Configuration(),
        schedules=3,
        seed=1,
    )
    conformance = run_plan(plan, Processes())
    assert only_fault(conformance).field == "controller.epoch"
    assert str(conformance.ended_by) == "only kip-320"


def test_a_finding_whose_command_no_longer_exists_is_kept_as_unstable(tmp_path: Path) -> None:
    script = tmp_path / "subject.py"
    script.write_text(f"#!{sys.executable}\nimport os\nos.unlink({str(script)!r})\n{KNOWS_ONE_PROTOCOL}")
    script.chmod(0o700)
    fault = only_fault(conform((str(script),), schedules=1))
    assert fault.kind is DiscrepancyKind.UNSTABLE
    assert "controller.epoch is 5, and 0 in the model, then the system under test cannot run it" in fault.sentence
    assert "cannot run" in fault.sentence


def test_a_reply_that_differs_in_the_second_run_is_an_unstable_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARK", str(tmp_path / "seen"))
    fault = only_fault(run("differ_the_first_time_ever"))
    assert (fault.kind, fault.field) == (DiscrepancyKind.UNSTABLE, "controller.epoch")
    assert fault.expected == "controller.epoch is 5, and 0 in the model"
    assert fault.observed == "nothing is wrong"


def test_an_adapter_with_a_different_wrong_reply_in_each_process_is_an_unstable_finding() -> None:
    fault = only_fault(run("differ_by_process"))
    assert fault.kind is DiscrepancyKind.UNSTABLE
    assert str(fault.expected).startswith("controller.epoch is ")
    assert str(fault.observed).startswith("controller.epoch is ")
    assert fault.expected != fault.observed


def test_conform_runs_a_sample_twice_with_judge_promises_to_detect_unstable_adapters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARK", str(tmp_path / "seen"))
    fault = only_fault(run("differ_the_first_time_ever", judged_by=JudgedBy.PROMISES))
    assert fault.kind is DiscrepancyKind.UNSTABLE
    assert (fault.expected, fault.observed) == ("controller.epoch 5", "controller.epoch 0")


def test_conform_leaves_no_process_of_a_hanging_adapter_inside_or_outside_its_process_group(living: Living) -> None:
    assert only_fault(run("hang_with_children", patience=PATIENCE)).kind is DiscrepancyKind.TIMEOUT
    assert living("") == []


def test_closing_an_adapter_ends_a_process_that_outlives_its_input(living: Living) -> None:
    subject = CommandSubject((*HOSTILE, "outlive_its_input", "event"))
    subject.reset(config_of(Configuration()), "kip-320")
    assert not subject.apply("restart A")
    assert len(living("outlive_its_input")) == 1
    subject.close()
    assert living("") == []


def test_an_adapter_that_is_never_closed_leaves_no_process(living: Living) -> None:
    words = [*HOSTILE, "outlive_its_input", "event"]
    script = (
        "from harness.conform.protocol.process import LineProcess\n"
        f"process = LineProcess({words})\n"
        """process.ask(b'{"op": "event"}\\n', 30)"""
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, timeout=60)
    assert living("") == []


def test_adapters_that_die_leave_no_zombie_process() -> None:
    run("be_killed")
    assert zombies() == []


def test_a_missing_command_is_an_error_that_names_the_command() -> None:
    with pytest.raises(CommandError, match=r"cannot run 'no-such-command': no such file"):
        conform(("no-such-command",))


HANGS = """
import time
from tests.conform import reference

class Hanging(reference.Reference):
    def apply(self, event):
        return time.sleep(600) if event == "expire B" else super().apply(event)

reference.serve(Hanging())
"""


@pytest.mark.slow
def test_conform_shrinks_a_schedule_on_which_the_adapter_hangs() -> None:
    conformance = conform((sys.executable, "-c", HANGS), schedules=5, patience=2.0)
    assert only_fault(conformance).observed == "no answer within 2 s"
    assert conformance.nonconformities[0].shrunk_from > 1
    assert reproducer(conformance) == ["expire B"]
