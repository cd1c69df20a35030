"""The timeline of a run: leaders, logs, acknowledged and read records, and lost records."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

pytest.importorskip("confluent_kafka")

from epochfuzz.harness.cli.output import print_table
from epochfuzz.harness.cluster import view
from epochfuzz.harness.cluster.broker.cluster import Cluster
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.timeline import Recorder, ScenarioRun, ScenarioVerdict
from epochfuzz.harness.documents.cluster_records import (
    Acknowledged,
    ConsumedRecord,
    Loss,
    ReachedStep,
    Record,
    ReplicaView,
)
from epochfuzz.harness.views.report.html import environment
from tests.cluster.test_broker_log import FOLLOWER, LEADER
from tests.cluster.test_segments import SEGMENT

TEMPLATES = environment("epochfuzz.harness.cluster")

LOG = (Record(0, 1, "x"), Record(1, 1, "m"))
LOST = ScenarioRun(
    verdict=ScenarioVerdict.LOST,
    seconds=28.4,
    acknowledged=7,
    lost=[Loss("m", 0, 1, "z", was_read=True), Loss("y", 0, 2, None, was_read=False)],
    moments=[
        ReachedStep(
            after=1.5,
            step="4",
            what="m is acknowledged <and read>",
            replicas={
                "A": ReplicaView("running", "leads e3", LOG, 2),
                "B": ReplicaView("paused", "follows A e3", LOG[:1], None),
            },
            acknowledged=(Acknowledged("m", 0, 1, 0.0),),
            read=(ConsumedRecord("m", 1, 0.0),),
        )
    ],
    evidence=[("A", LEADER)],
    clients=["consumer: <reset>"],
)


def printed(run: ScenarioRun) -> str:
    out = Console(file=StringIO(), width=150)
    view.print_run(out, run, print_table)
    return out.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("high_watermark", "told"), [(0, "(x m)"), (1, "[x](m)"), (2, "[x m]"), (None, "x m")])
def test_the_text_of_a_log_puts_records_below_the_high_watermark_in_square_brackets(
    high_watermark: int | None, told: str
) -> None:
    assert ReplicaView("running", "leads e1", LOG, high_watermark).log_text() == told


def test_the_text_of_an_empty_log_says_empty() -> None:
    assert ReplicaView("running", "", (), 0).log_text() == "empty"


def test_the_terminal_shows_steps_log_lines_losses_and_the_verdict() -> None:
    text = printed(LOST)
    for part in (
        "leads e3",
        "follows A e3 (paused)",
        "LEO 2 HW 2",
        "acknowledged m@1",
        "read m@1",
        f"A  {LEADER}",
        "m was acknowledged, and read by a consumer at offset 1 of partition 0: z is there now",
        "y was acknowledged at offset 2 of partition 0: nothing is there now",
        "LOST: 2 of 7 acknowledged records, in 28 s",
    ):
        assert part in text


def test_the_timeline_shows_five_of_many_losses_and_counts_the_others() -> None:
    run = ScenarioRun(
        verdict=ScenarioVerdict.LOST,
        seconds=60.0,
        acknowledged=1000,
        lost=[Loss(f"m{n}", n, n, None, was_read=False) for n in range(1_005)],
    )
    text = printed(run)
    assert "m4 was acknowledged" in text
    assert "m5 was acknowledged" not in text
    assert "... and 1,000 more" in text
    assert "... and 1,000 more" in view.html(
        view.TimelinePage(title="t", summary="s", run=run, facts=(), command="c"), TEMPLATES
    )


def test_the_timeline_has_no_replica_columns_if_the_steps_have_no_replicas() -> None:
    run = ScenarioRun(
        moments=[ReachedStep(after=1.0, step="1", what="producers go on", replicas={}, acknowledged=(), read=())]
    )
    assert "producers go on" in printed(run)
    assert "high watermark" not in printed(run)
    assert "producers go on" in view.html(
        view.TimelinePage(title="t", summary="s", run=run, facts=(), command="c"), TEMPLATES
    )


def test_the_terminal_distinguishes_kept_from_not_reached() -> None:
    assert "NOT REACHED: waited 20 s" in printed(ScenarioRun(why="waited 20 s"))
    assert "KEPT: all 8 acknowledged records, in 29 s" in printed(
        ScenarioRun(verdict=ScenarioVerdict.KEPT, seconds=29.1, acknowledged=8)
    )


def test_the_html_timeline_shows_the_run_and_escapes_the_text_of_steps_and_clients() -> None:
    page = view.TimelinePage(
        title="re-elected-leader",
        summary="A cluster",
        run=LOST,
        facts=(("Kafka", "4.3.1"),),
        command="epochfuzz cluster run x",
    )
    text = view.html(page, TEMPLATES)
    for part in (
        "LOST: 2 of 7",
        "leads e3",
        "m is acknowledged &lt;and read&gt;",
        "consumer: &lt;reset&gt;",
        "z is there now",
    ):
        assert part in text
    assert "epochfuzz cluster run x" in text
    assert "<reset>" not in text
    assert "http" not in text.replace("http-equiv", "")


def test_the_json_of_a_run_has_the_verdict_and_each_lost_record() -> None:
    plain: Any = LOST.plain()
    assert plain["verdict"] == "LOST"
    assert plain["lost"][0] == {"value": "m", "partition": 0, "offset": 1, "instead": "z", "was_read": True}
    assert plain["moments"][0]["replicas"]["A"]["role"] == "leads e3"


def test_a_recorded_step_has_the_roles_the_logs_and_the_new_records_of_clients(
    tmp_path: Path, no_kafka: Installation
) -> None:
    cluster = Cluster(no_kafka, tmp_path, tmp_path / "logs")
    a, b, _ = cluster.brokers.values()
    (a.data / "t-0").mkdir(parents=True)
    (a.data / "t-0" / "0.log").write_bytes(SEGMENT)
    a.log.path.write_text(LEADER + "\n")
    b.log.path.write_text(FOLLOWER + "\n")
    recorder = Recorder(cluster.brokers, "t-0")
    role = a.log.role("t-0")
    assert role is not None
    read = [ConsumedRecord("m", 6, role.at + 1)]
    recorder.note("3", "before", [], [])
    assert recorder.run.moments.pop().replicas["A"].high_watermark == 4
    recorder.note("4", "first", [Acknowledged("m", 0, 6, role.at + 1)], read)
    recorder.note("5", "second", [Acknowledged("m", 0, 6, role.at + 1)], read)
    first, second = recorder.run.moments
    assert first.replicas["A"].role == "leads e3"
    assert first.replicas["A"].high_watermark == 7  # it logged 4, and served offset 6
    assert [record.value for record in first.replicas["A"].log] == ["x0", "m0", "y0", "x"]
    assert first.replicas["B"].role == "follows A e3"
    assert first.replicas["B"].high_watermark is None
    assert first.replicas["C"] == ReplicaView("down", "", (), None)
    assert (len(first.acknowledged), len(first.read)) == (1, 1)
    assert (second.acknowledged, second.read) == ((), ())
