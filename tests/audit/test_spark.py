"""An audit on Spark has the result of an audit in one process, and continues after it was killed."""

import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from epochfuzz.harness.audit import audit, on_spark, one_process
from epochfuzz.harness.audit.audit import AuditRequest
from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.audit.tables import EVENTS, FINDINGS, JUDGED, OUTCOME
from tests.audit.telling import LOGS, leads, stamped
from tests.audit.test_faults import HOSTILE

LOST = LOGS / "re-elected-leader-4.3.1"
ROOT = Path(__file__).parents[2]


def quiet(text):
    pass


@pytest.fixture
def in_small_parts(monkeypatch):
    monkeypatch.setattr(audit, "_PART", 3000)


@pytest.mark.parametrize(
    "logs",
    [
        "re-elected-leader-4.3.1",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("zookeeper-2.6.1", "operations-3.3.2")),
    ],
)
def test_an_audit_on_spark_equals_the_audit_in_one_process_for_files_in_small_parts(
    spark, tmp_path, in_small_parts, logs
):
    request = AuditRequest.of([str(LOGS / logs)])
    assert len(request.parts()) > 6
    alone = one_process.run(request, quiet)

    assert on_spark.run(spark, str(tmp_path / "audit"), request, quiet) == alone


@pytest.mark.thorough
def test_an_audit_on_spark_equals_the_audit_in_one_process_for_logs_without_events(spark, tmp_path):
    (tmp_path / "broker.log").write_text(stamped(["[KafkaServer id=1] started (kafka.server.KafkaServer)"]))
    request = AuditRequest.of([str(tmp_path / "broker.log")])

    for _ in range(2):
        assert on_spark.run(spark, str(tmp_path / "out"), request, quiet) == one_process.run(request, quiet)


@pytest.mark.thorough
def test_an_audit_on_spark_rejects_files_that_contain_no_line_of_a_broker(spark, tmp_path):
    (tmp_path / "values.yaml").write_text("replicas: 3\n")

    with pytest.raises(AuditError, match="audit found no line of a Kafka broker in"):
        on_spark.run(spark, str(tmp_path / "out"), AuditRequest.of([str(tmp_path / "values.yaml")]), quiet)


@pytest.mark.thorough
def test_an_audit_on_spark_equals_the_audit_in_one_process_for_extreme_numbers(spark, tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    greatest = leads((1 << 31) - 1, (1 << 31) - 2, (1 << 63) - 3, 9, partition=f"t-{(1 << 31) - 1}")
    (logs / "server.log").write_text(stamped([greatest, *HOSTILE.values()]))
    (logs / "events.json").write_text(json.dumps({"message": leads(1, 1, 9, 9), "timestamp": 1e30}) + "\n")
    request = AuditRequest.of([str(logs)])

    assert on_spark.run(spark, str(tmp_path / "out"), request, quiet) == one_process.run(request, quiet)


@pytest.mark.thorough
def test_an_audit_on_spark_equals_the_audit_in_one_process_for_archives_and_mixed_files(spark, tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in ("one", "two"):
        with tarfile.open(logs / f"{name}.tar.gz", "w:gz") as archive:
            for file in sorted(LOST.iterdir()):
                archive.add(file, f"{name}/{file.name}")
    together = [f"{file.stem}  | {line}" for file in sorted(LOST.iterdir()) for line in file.read_text().splitlines()]
    (logs / "compose.log").write_text("\n".join(together))
    request = AuditRequest.of([str(logs)])
    alone = one_process.run(request, quiet)

    assert on_spark.run(spark, str(tmp_path / "out"), request, quiet) == alone
    assert alone.findings
    assert not any("does not name the broker" in gap for gap in alone.gaps)


@pytest.mark.thorough
def test_the_tables_of_an_audit_on_spark_have_the_columns_of_their_schemas(spark, tmp_path):
    on_spark.run(spark, str(tmp_path), AuditRequest.of([str(LOST)]), quiet)
    for table, schema in {"events": EVENTS, "findings": FINDINGS, "judged": JUDGED, "outcome": OUTCOME}.items():
        assert ds.dataset(tmp_path / table).schema.names == schema.names, table

    events = pq.read_table(tmp_path / "events").to_pylist()
    leaders = [event for event in events if event["kind"] == "leader" and event["topic"] == "t"]
    assert {(event["broker"], event["leader_epoch"], event["offset"]) for event in leaders} >= {(1, 3, 6), (2, 4, 4)}


@pytest.mark.thorough
def test_an_audit_on_spark_that_has_finished_returns_its_result_without_reading_again(spark, tmp_path):
    request = AuditRequest.of([str(LOST)])
    first = on_spark.run(spark, str(tmp_path), request, quiet)
    said: list[str] = []

    assert on_spark.run(spark, str(tmp_path), request, said.append) == first
    assert said == []


@pytest.mark.thorough
def test_an_audit_on_spark_rejects_the_directory_of_an_audit_with_other_options(spark, tmp_path):
    request = AuditRequest.of([str(LOST)])
    on_spark.run(spark, str(tmp_path), request, quiet)

    with pytest.raises(AuditError, match="holds an audit with other files"):
        on_spark.run(spark, str(tmp_path), replace(request, layouts=("%d %m",)), quiet)


@pytest.mark.thorough
def test_an_audit_on_spark_that_was_killed_does_not_read_written_waves_again(
    spark, tmp_path, monkeypatch, in_small_parts
):
    monkeypatch.setattr(on_spark, "_WAVE", 2)
    monkeypatch.setattr(on_spark, "_EACH", 1)
    request = AuditRequest.of([str(LOST)])
    whole = on_spark.run(spark, str(tmp_path / "whole"), request, quiet)

    class Killed(Exception):
        pass

    def die_at_the_third(text):
        said.append(text)
        if len(said) == 3:
            raise Killed

    said: list[str] = []
    with pytest.raises(Killed):
        on_spark.run(spark, str(tmp_path / "killed"), request, die_at_the_third)
    again: list[str] = []

    assert on_spark.run(spark, str(tmp_path / "killed"), request, again.append) == whole
    assert again[0].startswith("reading parts 5 to 6 of")


@pytest.mark.thorough
def test_an_audit_on_spark_lists_a_deleted_file_as_a_gap(spark, tmp_path):
    for broker in (1, 2):
        (tmp_path / f"broker-{broker}.log").write_bytes((LOST / f"broker-{broker}.log").read_bytes())
    request = AuditRequest.of([str(tmp_path / "broker-1.log"), str(tmp_path / "broker-2.log")])
    (tmp_path / "broker-2.log").unlink()

    assert any("could not be read" in gap for gap in on_spark.run(spark, str(tmp_path / "out"), request, quiet).gaps)


def test_an_audit_by_url_has_the_findings_of_an_audit_by_path():
    by_path, by_url = (one_process.run(AuditRequest.of([logs]), quiet) for logs in (str(LOST), LOST.as_uri()))

    assert [(f.what, f.name, f.offsets) for f in by_url.findings] == [
        (f.what, f.name, f.offsets) for f in by_path.findings
    ]


@pytest.mark.slow  # a Java of its own, four times
def test_an_audit_on_spark_killed_twice_has_the_findings_of_an_uninterrupted_audit(tmp_path):
    logs = tmp_path / "logs"
    for copy in range(40):
        for file in LOST.iterdir():
            own = logs / file.stem
            own.mkdir(parents=True, exist_ok=True)
            (own / f"server.log.{copy}").write_text(file.read_text().replace("t-0", f"t{copy}-0"))

    def start(out):
        words = [sys.executable, "-m", "epochfuzz", "audit", logs, "--master", "local[2]", "--out", out]
        return subprocess.Popen(list(map(str, words)), cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL)

    for written in ("read/wave=*/*.parquet", "read/wave=00000128/*.parquet"):
        running = start(tmp_path / "out")
        while not list((tmp_path / "out").glob(written)) and running.poll() is None:
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    assert start(tmp_path / "out").wait() == 1
    assert start(tmp_path / "whole").wait() == 1
    kept = [pq.read_table(tmp_path / out / "findings").to_pylist() for out in ("out", "whole")]

    assert len(kept[0]) == 120
    assert kept[0] == kept[1]
