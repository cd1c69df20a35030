"""Run campaigns from Python on your own Spark session: in a notebook, in Airflow, or on Databricks.

Each function uses all cores of the session, and leaves the session open. Each function prints the session's master to
stderr, and writes its results to the directory `out`, as the corresponding epochfuzz command does. Another call with
equal arguments resumes an interrupted run.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.campaign.run.campaign import Campaign
from epochfuzz.harness.campaign.run.job import Counts
from epochfuzz.harness.campaign.spark import versions
from epochfuzz.harness.campaign.store.directory import CampaignDirectory
from epochfuzz.harness.campaign.store.identity import work_found
from epochfuzz.harness.campaign.store.location import held, on_this_machine
from epochfuzz.harness.campaign.walks.outcome import ScheduleOutcome
from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.harness.campaign.walks.walk_job import Walks
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.environment.seeds import random_seed
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from epochfuzz.harness.audit.audit import Audit

_CERTIFY = 25.0  # seconds


class _Silent:
    """An observer that shows nothing, because Spark's UI shows the progress of the campaign."""

    def doing(self, what: str) -> None:
        pass

    def counted(self, counts: Counts, seconds: float) -> None:
        pass


def campaign(
    spark: "SparkSession",
    *,
    out: str,
    protocols: Sequence[str],
    schedules: int,
    seed: int | None = None,
    certify: float | None = _CERTIFY,
    **settings: Any,
) -> ScheduleOutcome:
    """Run random schedules on Spark, as `epochfuzz campaign run` does, and return the outcome with its findings.

    `out` is any URI that Spark can write. `settings` are fields of Configuration. `certify` is the time in seconds for
    proofs that no shorter schedule exists. None sets no limit. Without `seed`, a new campaign has a random seed, and a
    resumed campaign keeps its seed. Raises CampaignError, and ValueError for a parameter outside its range.
    """
    with _works(spark, out):
        if seed is None:
            begun = work_found(CampaignDirectory(spark, out))
            seed = random_seed() if begun is None else begun.seed
        parsed = tuple(parse_protocol(name) for name in protocols)
        work = Walks(Parameters(protocols=parsed, settings=Configuration(**settings), seed=seed, schedules=schedules))
        work.certify = certify
        return Campaign.start_or_load(spark, out, work).run(_Silent())


def conform(
    spark: "SparkSession",
    command: Sequence[str],
    *,
    out: str,
    protocols: Sequence[str] = ("kip-320",),
    schedules: int = 2_000,
    seed: int = 0,
    judge: str = "lock-step",
    **settings: Any,
) -> Conformance:
    """Compare a system under test with the model on Spark, as `epochfuzz conform --campaign` does.

    `command` starts the adapter, the program that wraps the system. The adapter's path must be valid on every Spark
    worker. `settings` are fields of Configuration. Returns the result with its findings. Raises CampaignError,
    SubjectUnable and CommandError.
    """
    from epochfuzz.harness.campaign.conformance.conformance_job import Trials
    from epochfuzz.harness.conform.oracle.judge import JudgedBy
    from epochfuzz.harness.conform.run.plan import Plan
    from epochfuzz.harness.conform.run.selection import selection_for

    plan = Plan(
        command=tuple(command),
        protocols=[parse_protocol(name) for name in protocols],
        settings=Configuration(**settings),
        schedules=schedules,
        seed=seed,
        judged_by=JudgedBy(judge),
        selection=selection_for(JudgedBy(judge)),
    )
    with _works(spark, out):
        return Campaign.start_or_load(spark, out, Trials(plan)).run(_Silent())


def audit(
    spark: "SparkSession",
    logs: Sequence[str],
    *,
    out: str,
    layouts: Sequence[str] = (),
    broker: str | None = None,
) -> "Audit":
    """Read brokers' logs and data directories on Spark, as `epochfuzz audit --spark` does, and return the findings.

    `logs`, `layouts` and `broker` mean the same as the arguments of `epochfuzz audit`. Raises AuditError and
    CampaignError.
    """
    from epochfuzz.harness.audit import on_spark
    from epochfuzz.harness.audit.audit import AuditRequest

    with _works(spark, out):
        return on_spark.run(spark, out, AuditRequest.of(logs, layouts, broker), lambda text: None)


@contextmanager
def _works(spark: "SparkSession", out: str) -> Iterator[None]:
    """Print the session's master, and lock a directory `out` on this machine until the with statement ends.

    Raises CampaignError if another process has locked the directory, or if the directory cannot be written.
    """
    print(versions.place(spark), file=sys.stderr)
    here = None if versions.is_remote() else on_this_machine(out)
    with nullcontext() if here is None else held(here):
        yield
