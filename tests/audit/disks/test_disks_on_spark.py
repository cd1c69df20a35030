"""An audit of disks on Spark has the result of an audit in one process, and continues after it was killed."""

from dataclasses import replace

import pytest

from epochfuzz.harness.audit import on_spark, one_process
from epochfuzz.harness.audit.audit import AuditRequest
from epochfuzz.harness.audit.disks import segments_on_spark
from epochfuzz.harness.audit.disks.segments_on_spark import ranges
from epochfuzz.harness.audit.errors import AuditError
from tests.audit.disks.disk_sets import unpacked
from tests.audit.telling import LOGS

pytestmark = pytest.mark.thorough

LOST = "unclean-returned-3.6.2"


def quiet(text: str) -> None:
    pass


def test_a_spark_task_reads_consecutive_segments_up_to_a_size_and_a_number(tmp_path, monkeypatch):
    monkeypatch.setattr(segments_on_spark, "_RANGE", 25)
    monkeypatch.setattr(segments_on_spark, "_FILES", 3)
    files = []
    for number, size in enumerate([10, 10, 10, 100, 1, 1, 1, 1]):
        files.append(tmp_path / str(number))
        files[-1].write_bytes(bytes(size))
    taken = [[int(file[-1]) for file in each] for each in ranges(map(str, files))]

    assert taken == [[0, 1], [2], [3], [4, 5, 6], [7]]


@pytest.mark.parametrize("logs", [[], [str(LOGS / "operations-3.3.2")]], ids=["disks", "disks and logs"])
def test_an_audit_of_disks_on_spark_equals_the_audit_in_one_process(spark, tmp_path, monkeypatch, logs):
    monkeypatch.setattr(segments_on_spark, "_FILES", 1)
    monkeypatch.setattr(segments_on_spark, "_WAVE", 2)
    request = AuditRequest.of([str(unpacked(LOST, tmp_path)), *logs])

    assert on_spark.run(spark, str(tmp_path / "out"), request, quiet) == one_process.run(request, quiet)


def test_an_audit_of_disks_on_spark_continues_after_it_was_killed_twice(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(segments_on_spark, "_FILES", 1)
    monkeypatch.setattr(segments_on_spark, "_WAVE", 1)
    request = AuditRequest.of([str(unpacked(LOST, tmp_path))])

    class Killed(Exception):
        pass

    def die(text: str) -> None:
        said.append(text)
        if len(said) == 2:
            raise Killed

    for begins in ("reading segments 1 to 1", "reading segments 2 to 2"):
        said: list[str] = []
        with pytest.raises(Killed):
            on_spark.run(spark, str(tmp_path / "out"), request, die)
        assert said[0].startswith(begins)

    assert on_spark.run(spark, str(tmp_path / "out"), request, quiet) == one_process.run(request, quiet)


def test_an_audit_of_disks_on_spark_rejects_its_directory_if_the_disks_have_changed(spark, tmp_path):
    data = unpacked(LOST, tmp_path)
    request = AuditRequest.of([str(data)])
    on_spark.run(spark, str(tmp_path / "out"), request, quiet)
    with (data / "A" / "t-0" / f"{0:020d}.log").open("ab") as segment:
        segment.write(b"x")

    with pytest.raises(AuditError, match="holds an audit with other files"):
        on_spark.run(spark, str(tmp_path / "out"), replace(request), quiet)
