"""A campaign from its start to its end; each step is taken where the directory says that it has not been yet."""

from dataclasses import dataclass
from typing import Any
from typing import Protocol as Interface

import pyarrow as pa
from pyspark.sql import SparkSession

from epochfuzz.harness.campaign import blocks, cases, checks, coverage, findings, parameters, waves
from epochfuzz.harness.campaign.checks import Checked
from epochfuzz.harness.campaign.directory import Directory
from epochfuzz.harness.campaign.errors import CampaignError
from epochfuzz.harness.campaign.machines import load_machine
from epochfuzz.harness.campaign.parameters import Parameters
from epochfuzz.harness.campaign.waves import Counts, Waves
from epochfuzz.harness.campaign.workers import Workers
from epochfuzz.harness.cases.case import dump_case
from epochfuzz.harness.search import findings as fuzz
from epochfuzz.harness.search.compilation import model_digest
from epochfuzz.harness.search.estimate import Estimate, something_new
from epochfuzz.harness.search.findings import Finding
from epochfuzz.harness.search.walk import Tally

# Written last: a campaign that has it is finished.
OUTCOME = pa.schema(
    {
        "schedules": pa.int64(),  # walked
        "events": pa.int64(),  # applied, under all protocols together
        "findings": pa.int64(),  # rows of findings
    }
)

_MOMENT = 0.001  # seconds, for a rate where a driver was killed before it had noted any


class Progress(Interface):
    """Who is told how far a campaign is."""

    def doing(self, what: str) -> None:
        """Name what is being done."""

    def walked(self, counts: Counts, elapsed: float) -> None:
        """Schedules were walked."""


@dataclass(frozen=True)
class Outcome:
    """What a finished campaign has shown, for how long it walked, and what is left to find.

    `errors`: rows of findings of a machine of the user's own, which has no other findings; it took `steps`.
    `unreached`: numbers of situations within reach that were not met, by protocol text.
    """

    parameters: Parameters
    tally: Tally
    seconds: float
    findings: list[Finding]
    errors: list[dict[str, Any]]
    steps: int
    checked: Checked
    unreached: dict[str, list[int]]

    @property
    def estimate(self) -> Estimate:
        """How likely it is that one more schedule shows something new."""
        return something_new(self.tally)

    @property
    def stopped_unstable(self) -> bool:
        """Whether the campaign was to go on until it is stable, and had to stop before."""
        return self.parameters.stable is not None and self.estimate.high >= self.parameters.stable


class Campaign:
    """A campaign in its directory."""

    def __init__(self, directory: Directory, parameters_: Parameters) -> None:
        self.directory = directory
        self.parameters = parameters_
        self._spark = directory.spark

    @staticmethod
    def start(spark: SparkSession, uri: str, asked: Parameters) -> "Campaign":
        """A new campaign. Raises CampaignError where there is one already."""
        directory = Directory(spark, uri)
        if _parameters(directory) is not None:
            resume = f"go on with `epochfuzz campaign resume {uri}`, or choose another directory"
            raise CampaignError(f"{uri} already holds a campaign; {resume}")
        _require_machine(asked)
        directory.write_rows([asked.row()], parameters.SCHEMA, "parameters")
        return Campaign(directory, asked)

    @staticmethod
    def load(spark: SparkSession, uri: str) -> "Campaign":
        """The campaign of a directory. Raises CampaignError where there is none."""
        directory = Directory(spark, uri)
        found = _parameters(directory)
        if found is None:
            raise CampaignError(f"{uri} holds no campaign; `epochfuzz campaign run --out {uri}` starts one")
        return Campaign(directory, found)

    def run(self, progress: Progress) -> Outcome:
        """Do what has not been done yet. Raises CampaignError where that began with other rules than these."""
        if not self._is_finished():
            if self.parameters.model != model_digest():
                raise CampaignError(
                    f"{self.directory.uri} was begun with model {self.parameters.model} (epochfuzz"
                    f" {self.parameters.version}), and this is model {model_digest()}: go on with that version,"
                    " or start another campaign"
                )
            _require_machine(self.parameters)
            checked = self.walk(progress)
            return self._outcome(self._finish(progress), checked)
        return self.outcome()

    def outcome(self) -> Outcome:
        """What the campaign has shown. Raises CampaignError while it is not finished."""
        if not self._is_finished():
            raise CampaignError(
                f"{self.directory.uri} is not finished; go on with `epochfuzz campaign resume {self.directory.uri}`"
            )
        return self._outcome(self.tally(), self._compare())

    def _outcome(self, tally: Tally, checked: Checked) -> Outcome:
        rows = self.directory.read_rows("findings", findings.SCHEMA)
        own = self.parameters.machine is not None
        found = [] if own else [findings.from_row(row, self.parameters) for row in rows]
        seconds = waves.seconds_walked(self.directory, tally.schedules)
        return Outcome(
            parameters=self.parameters,
            tally=tally,
            seconds=max(seconds, _MOMENT),
            findings=found,
            errors=rows if own else [],
            steps=blocks.steps(waves.finished_blocks(self.directory)) if own else 0,
            checked=checked,
            unreached=self._unreached(),
        )

    def _is_finished(self) -> bool:
        return bool(self.directory.read_rows("outcome", OUTCOME))

    def walk(self, progress: Progress) -> Checked:
        """Walk what is left, and compare what was walked twice. Raises NonDeterminismError."""
        walk = Waves(self.directory, self.parameters)
        for end in self.parameters.rounds():
            if end is not None and end < walk.blocks:
                continue  # it was not stable then
            walk.walk(end, progress.walked)
            if self._is_stable() or end is None or walk.blocks < end:
                break
        return self._compare()

    def _compare(self) -> Checked:
        """Compare what was walked twice. Raises NonDeterminismError."""
        return checks.compare(waves.written_blocks(self.directory))

    def _is_stable(self) -> bool:
        stable = self.parameters.stable
        return stable is not None and something_new(self.tally()).high < stable

    def tally(self) -> Tally:
        """The tally of all that is walked."""
        return blocks.total(waves.finished_blocks(self.directory), self.parameters.protocols)

    def _finish(self, progress: Progress) -> Tally:
        """From failures to findings and cases; returns the tally that they were made of."""
        tally = self.tally()
        breaches = fuzz.breaches(self.parameters.protocols, self.parameters.settings, tally)
        progress.doing(f"shrinking and certifying {len(breaches)} findings")
        found = self._shrunk(breaches)
        made = [cases.case_for(finding, self.parameters) for finding in found]
        rows = [findings.row(each) | {"case": dump_case(case)} for each, case in zip(found, made, strict=True)]
        rows += self._errors()
        self.directory.write_rows(rows, findings.SCHEMA, "findings")
        if self.parameters.engine == "walk":
            progress.doing("looking for situations that were not reached")
            self.directory.write_rows(self._covered(tally), coverage.SCHEMA, "situations")
        cases.write(made, self.directory)
        ending = {"schedules": tally.schedules, "events": int(tally.events.sum()), "findings": len(rows)}
        self.directory.write_rows([ending], OUTCOME, "outcome")
        return tally

    def _errors(self) -> list[dict[str, Any]]:
        """How a machine of the user's own failed, as rows of findings."""
        finished = waves.finished_blocks(self.directory)
        if self.parameters.machine is None or finished is None:
            return []
        return [findings.error_row(error, self.parameters.machine) for error in blocks.errors(finished)]

    def _covered(self, tally: Tally) -> list[dict[str, Any]]:
        """The rows of the table of situations; each protocol is searched by a task of its own."""
        protocols = self.parameters.protocols
        numbers = self._spark.range(0, len(protocols), 1, len(protocols))
        task = Workers(self._spark).map(numbers, "reach_situations", self.parameters.text(), coverage.REACHABLE)
        return coverage.rows(tally, protocols, task.toArrow().to_pylist())

    def _unreached(self) -> dict[str, list[int]]:
        unreached: dict[str, list[int]] = {protocol.name: [] for protocol in self.parameters.protocols}
        table = self.directory.read("situations", coverage.SCHEMA)
        if table is not None:
            for row in table.where("schedules = 0").toArrow().sort_by("situation").to_pylist():
                unreached[row["protocol"]].append(row["situation"])
        return unreached

    def _shrunk(self, breaches: list[fuzz.Breach]) -> list[Finding]:
        """The findings of the breaches, each made by a task of its own."""
        argument = {
            "parameters": self.parameters.text(),
            "breaches": [findings.breach_row(breach) for breach in breaches],
            "candidates": fuzz.MOST_CANDIDATES if self.parameters.engine == "walk" else 1,
        }
        numbers = self._spark.range(0, len(breaches), 1, max(1, len(breaches)))
        shrunk = Workers(self._spark).map(numbers, "shrink_breaches", argument, findings.SHRUNK)
        found = {(row["protocol"], row["property"]): row for row in shrunk.toArrow().to_pylist()}
        return [findings.from_row(found[breach.protocol.name, breach.property], self.parameters) for breach in breaches]


def _require_machine(asked: Parameters) -> None:
    """Find a machine of the user's own here, before workers look for it. Raises CampaignError."""
    if asked.machine is not None:
        load_machine(asked.machine)


def _parameters(directory: Directory) -> Parameters | None:
    rows = directory.read_rows("parameters", parameters.SCHEMA)
    return Parameters.from_row(rows[0]) if rows else None
