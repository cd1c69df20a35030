"""An audit on Spark: workers read parts of files and check partitions, and a directory keeps the results.

Workers read the parts in waves. The results of each complete wave are written to a file of their own
(campaign/store/directory.py), so a killed driver loses only the wave that is running. Workers open the files
themselves, by path or URL.
"""

import json
import time
from collections.abc import Callable, Iterator
from itertools import groupby

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from epochfuzz.harness.audit import tasks
from epochfuzz.harness.audit.attribution import Attribution, attributed
from epochfuzz.harness.audit.audit import Audit, AuditRequest, AuditVerdicts, concluded
from epochfuzz.harness.audit.disks.disk_audit import audit_disks
from epochfuzz.harness.audit.disks.found import state_of
from epochfuzz.harness.audit.disks.joined import joined
from epochfuzz.harness.audit.disks.segments_on_spark import SegmentReader
from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.audit.judgement.findings import PartitionFinding
from epochfuzz.harness.audit.judgement.rules import Judged
from epochfuzz.harness.audit.lines.facts import LogFacts, merged
from epochfuzz.harness.audit.lines.reading import Part
from epochfuzz.harness.audit.tables import EVENTS, FINDINGS, JUDGED, ORIGINS, OUTCOME, PARTS, PLACES, READ, REQUEST
from epochfuzz.harness.campaign.spark import versions
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store.directory import CampaignDirectory

Report = Callable[[str], None]

_WAVE = 64  # least number of parts in a wave; more if there are many cores
_EACH = 4  # parts in a wave for each core
_KEY = ("topic", "partition")


def run(spark: SparkSession, uri: str, request: AuditRequest, report: Report) -> Audit:
    """Run an audit, or resume the audit in the directory `uri`. Raises AuditError and CampaignError."""
    directory = CampaignDirectory(spark, uri)
    _take(directory, request)
    logs = _Run(directory, request, report).audit() if request.sources or not request.disks else None
    if not request.disks:
        assert logs is not None
        return logs
    return joined(logs, audit_disks(request.disks, report, SegmentReader(directory, Workers(spark))))


def _take(directory: CampaignDirectory, request: AuditRequest) -> None:
    """Write the request into the directory. Raises AuditError if the directory holds other data."""
    named = request.text() + state_of(request.disks)
    rows = directory.read_rows("request", REQUEST)
    if not rows:
        if directory.has("parameters") or directory.has("search"):
            raise AuditError(f"{directory.uri} holds a campaign or a search; choose another directory")
        directory.write_rows([{"request": named}], REQUEST, "request")
    elif rows[0]["request"] != named:
        raise AuditError(
            f"{directory.uri} holds an audit with other files, changed files, or another --layout or --broker; choose"
            " another directory"
        )


class _Run:
    """One audit on Spark. It skips all parts whose results are in its directory."""

    def __init__(self, directory: CampaignDirectory, request: AuditRequest, report: Report) -> None:
        self._directory, self._request, self._report = directory, request, report
        self._spark = directory.spark
        self._workers = Workers(directory.spark)

    def audit(self) -> Audit:
        began = time.monotonic()
        parts = self._read()
        files = [merged(own) for _, own in groupby(parts, key=lambda facts: facts.file)]
        whose = attributed(self._request, files)
        if not self._directory.has("outcome"):
            self._judge(parts, whose)
        verdicts = self._verdicts()
        if not self._directory.has("outcome"):
            self._conclude(verdicts, time.monotonic() - began)
        return concluded(self._request, files, whose, verdicts)

    def _read(self) -> list[LogFacts]:
        """Read the parts that have not been read. Returns the facts of all parts, sorted by file and part."""
        known = self._facts()
        done = {(facts.source, facts.part) for facts in known}
        missing = [part for part in self._request.parts() if (part.file, part.number) not in done]
        size = _WAVE if versions.is_remote() else max(_WAVE, _EACH * self._spark.sparkContext.defaultParallelism)
        total, started = len(missing) + len(done), len(done)
        for start in range(0, len(missing), size):
            self._report(
                f"reading parts {started + start + 1:,} to {min(started + start + size, total):,} of {total:,}"
            )
            self._read_wave(missing[start : start + size], f"wave={started + start:08d}")
        return sorted(self._facts() if missing else known, key=lambda facts: (facts.file, facts.part))

    def _read_wave(self, parts: list[Part], name: str) -> None:
        rows = pa.Table.from_pylist([{"part": part.text()} for part in parts], PARTS)
        numbered = versions.from_arrow(self._spark, rows).repartition(len(parts))
        read = self._workers.map(numbered, f"{tasks.__name__}:read_parts", json.dumps(self._request.layouts), READ)
        self._directory.write(read, "read", name)

    def _facts(self) -> list[LogFacts]:
        rows = self._directory.read("read", READ)
        if rows is None:
            return []
        texts = versions.to_arrow(rows.where(F.col("facts").isNotNull()).select("facts")).column(0).to_pylist()
        return [LogFacts.from_text(text) for text in texts]

    def _judge(self, parts: list[LogFacts], whose: Attribution) -> None:
        events = self._events(parts, whose)
        if events is None:
            return
        self._report("checking partitions")
        text = json.dumps(
            {
                "clocks_back": sorted(whose.clocks_back),
                "newest": whose.newest,
                "is_one_cluster": whose.is_one_cluster,
                "newest_first": sorted(whose.newest_first),
            }
        )
        by_partition = events.repartition(*_KEY).sortWithinPartitions(*_KEY, "file", "line")
        judged = self._workers.map(by_partition, f"{tasks.__name__}:judge_partitions", text, JUDGED)
        self._directory.write(judged, "judged")

    def _events(self, parts: list[LogFacts], whose: Attribution) -> DataFrame | None:
        """Write the table of events with line numbers of the whole file. Returns the events of known brokers."""
        read = self._directory.read("read", READ)
        if read is None:
            return None
        places = versions.from_arrow(self._spark, pa.Table.from_pylist(list(_places(parts, whose)), PLACES))
        placed = (
            read.where(F.col("facts").isNull())
            .join(F.broadcast(places), ["file", "part"])
            .where(~(F.col("doubtful") & F.col("doubted")))
            .withColumn("line", F.col("line") + F.col("before"))
        )
        placed = self._with_brokers(placed, whose)
        placed.select(*EVENTS.names).write.mode("overwrite").parquet(self._directory.path("events"))
        events = self._directory.read("events", EVENTS)
        return None if events is None else events.where(F.col("broker").isNotNull())

    def _with_brokers(self, placed: DataFrame, whose: Attribution) -> DataFrame:
        """Add the broker to each event: the broker that the line names, or else the broker of its origin or file."""
        rows = [
            {"file": file, "origin": origin, "of_origin": broker, "is_known": True}
            for (file, origin), broker in whose.origins.items()
        ]
        if not rows:
            return placed.withColumn("broker", F.coalesce("broker", "whose"))
        origins = versions.from_arrow(self._spark, pa.Table.from_pylist(rows, ORIGINS))
        joined = placed.join(F.broadcast(origins), ["file", "origin"], "left")
        told = F.when(F.col("is_known"), F.col("of_origin")).otherwise(F.col("whose"))
        return joined.withColumn("broker", F.coalesce(F.col("broker"), told))

    def _verdicts(self) -> AuditVerdicts:
        verdicts = AuditVerdicts()
        for row in sorted(
            self._directory.read_rows("judged", JUDGED), key=lambda row: (row["topic"], row["partition"])
        ):
            findings = [PartitionFinding.from_row(each) for each in row["findings"]]
            plain = {name: row[name] for name in ("unseen", "told_apart", "lacks_leader", "latest")}
            judged = Judged(findings=findings, silent=tuple(row["silent"]), undecided=tuple(row["undecided"]), **plain)
            verdicts.add(f"{row['topic']}-{row['partition']}", judged)
        return verdicts

    def _conclude(self, verdicts: AuditVerdicts, seconds: float) -> None:
        self._directory.write_rows([finding.row() for finding in verdicts.findings], FINDINGS, "findings")
        outcome = {"partitions": verdicts.partitions, "findings": len(verdicts.findings), "seconds": seconds}
        self._directory.write_rows([outcome], OUTCOME, "outcome")


def _places(parts: list[LogFacts], whose: Attribution) -> Iterator[dict[str, object]]:
    for file, own in groupby(parts, key=lambda facts: facts.file):
        if file in whose.left_out:
            continue
        before = 0
        for facts in own:
            doubted = file in whose.doubted
            broker = whose.brokers.get(file)
            yield {"file": file, "part": facts.part, "before": before, "whose": broker, "doubted": doubted}
            before += facts.lines
