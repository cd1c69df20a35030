"""Conformance campaigns: run the blocks of a conformance test on Spark.

Blocks run as in a local run (conform/run/block.py), and the outcome is computed as in a local run (conform/run/run.py).
A campaign therefore has the same findings as a local run.
"""

import json
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from epochfuzz.harness.campaign.conformance import kept_rows, rows
from epochfuzz.harness.campaign.run.job import BlockRange, Counts, Job
from epochfuzz.harness.campaign.run.status import SoFar
from epochfuzz.harness.campaign.store.tables import Tables
from epochfuzz.harness.conform.run import block_rows
from epochfuzz.harness.conform.run.block import run_block
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance, Runner, run
from epochfuzz.harness.environment.version import epochfuzz_version, model_digest
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign, Progress

_FAILURES = ("unexpected", "unjudged", "given_up")  # numbers of failures, and of blocks that stopped early

PARAMETERS = pa.schema(
    {
        "engine": pa.string(),  # conformance
        "plan": pa.string(),  # the request as JSON
        "model": pa.string(),  # digest of the model's rules
        "version": pa.string(),  # version of epochfuzz
    }
)


class Trials(Job[Conformance]):
    """The job of a conformance test. `plan` is the request, such as the command of the adapter and the protocols.

    A plan has `plan.blocks` blocks for each protocol. Block n of the campaign is block n % plan.blocks of the plan,
    under protocol n // plan.blocks.
    """

    NAME = "conformance"
    PARAMETERS = PARAMETERS
    BLOCKS = rows.BLOCKS

    def __init__(self, plan: Plan, model: str | None = None, version: str | None = None) -> None:
        self.plan = plan
        self.model = model or model_digest()
        self.version = version or epochfuzz_version()

    @property
    def is_repeatable(self) -> bool:
        """False for a client, because the time of its reports differs from run to run."""
        return not self.plan.is_client

    @property
    def seed(self) -> int:
        """The seed of the schedules."""
        return self.plan.seed

    @property
    def settings(self) -> Configuration:
        """The configuration of the system under test and of the model."""
        return self.plan.settings

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the protocols."""
        return tuple(protocol.name for protocol in self.plan.protocols)

    def row(self) -> dict[str, Any]:
        """Return the parameters of the job as a row of PARAMETERS."""
        plan = json.dumps(self.plan.document())
        return {"engine": self.NAME, "plan": plan, "model": self.model, "version": self.version}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the job that a row of PARAMETERS describes. Raises ValueError."""
        try:
            return cls(Plan.from_document(json.loads(row["plan"])), row["model"], row["version"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"the plan lacks or misplaces {error}") from None

    def differing(self, other: Job[Any]) -> list[str]:
        """Return the names of the parameters that differ between this job and `other`, for messages."""
        if not isinstance(other, Trials):
            return ["kind of work"]
        mine, theirs = (each.plan.document() | {"model": each.model} for each in (self, other))
        return [name for name in mine if mine[name] != theirs[name]]

    def how_to_resume(self, uri: str) -> str:
        """Return a sentence that says how to resume the campaign in the directory `uri`."""
        return f"repeat the command that began it, `epochfuzz conform --campaign {quote(uri)} ...`"

    def block(self, number: int) -> dict[str, Any]:
        """Run the schedules of a block on the system under test, and return the results as a row of BLOCKS.

        Raises SubjectUnable and CommandError.
        """
        index, within = divmod(number, self.plan.blocks)
        protocol = self.plan.protocols[index]
        return block_rows.block_row(protocol.name, within, run_block(self.plan.block_of(protocol, within)))

    def compared(self, row: Mapping[str, Any]) -> Any:
        """Return a row without the output of the system under test, because it may name processes and times."""
        return {**row, "failed": [failed | {"output": None} for failed in row["failed"]]}

    def refuse(self, number: int) -> None:
        """Accept a block with different results in two runs, because results.py reports this as a finding."""

    @property
    def counted(self) -> list[str]:
        """The names of the numbers for the progress: schedules, steps, and each protocol's failures.

        The counts of failures decide whether a stage ends early (see is_enough).
        """
        protocols = range(len(self.plan.protocols))
        return ["schedules", "steps", *(f"{kind} {index}" for index in protocols for kind in _FAILURES)]

    def counts(self, row: Mapping[str, Any]) -> dict[str, int]:
        """Return the numbers in a row of BLOCKS. Replayed cases count as schedules."""
        index = self.names.index(row["protocol"])
        failures = {f"{kind} {index}": int(row[kind]) for kind in _FAILURES}
        return {"schedules": row["schedules"] + row["cases"], "steps": row["steps"], **failures}

    def stages(self, campaign: "Campaign[Conformance]") -> Iterator[BlockRange]:
        """Yield a stage for each protocol."""
        for index in range(len(self.plan.protocols)):
            yield BlockRange(index * self.plan.blocks, (index + 1) * self.plan.blocks)

    def is_enough(self, stage: BlockRange, counts: Counts) -> bool:
        """Return whether `counts` end the stage early, for example with too many failures, as in a local run."""
        index = stage.first // self.plan.blocks if self.plan.blocks else 0
        unexpected, unjudged, given_up = (counts[f"{kind} {index}"] for kind in _FAILURES)
        return self.plan.is_enough(unexpected, unjudged, given_up > 0)

    def progress(self, counts: Counts, seconds: float) -> str:
        """Return the progress in one line."""
        return f"{counts['schedules']:,} schedules · {round(counts['steps'] / seconds):,} steps/s"

    def finish(self, campaign: "Campaign[Conformance]", progress: "Progress") -> dict[str, int]:
        """Confirm and shrink the failures, and write the findings. Returns the row of the table `outcome`."""
        conformance = run(self.plan, self.crew(campaign), progress.doing)
        if conformance.interrupted:  # don't write an outcome, because a campaign with an outcome can't be resumed
            raise KeyboardInterrupt
        findings = len(conformance.nonconformities)
        return {"schedules": conformance.schedules, "events": conformance.shown.steps, "findings": findings}

    def outcome(self, campaign: "Campaign[Conformance]") -> Conformance:
        """Return the results of a finished campaign."""
        return run(self.plan, self.crew(campaign))

    def crew(self, campaign: "Campaign[Conformance]") -> Runner:
        """Return the runner to pass to conform/run/run.py. The runner reads the results of finished blocks."""
        from epochfuzz.harness.campaign.conformance.results import CampaignRunner

        return CampaignRunner(campaign, self)

    def so_far(self, tables: Tables) -> SoFar:
        """Return the results of the finished blocks."""
        return SoFar(tables.counts(self.counted), kept_rows.found(tables, self.plan), {}, None)
