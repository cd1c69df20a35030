"""Run a scenario (a fixed sequence of steps) on a new cluster, and keep the logs and the timeline on request."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment

from epochfuzz.harness.cluster import view
from epochfuzz.harness.cluster.broker import installation
from epochfuzz.harness.cluster.broker.cluster import Cluster, running
from epochfuzz.harness.cluster.broker.data import DATA
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.broker.repair import Repair, repaired
from epochfuzz.harness.cluster.broker.variant import Scenario, Variant
from epochfuzz.harness.cluster.room import new_directory, room
from epochfuzz.harness.cluster.scenarios import re_elected_leader, under_load
from epochfuzz.harness.cluster.timeline import ScenarioRun

TIMELINE = "timeline.html"
_PLAYS = {Scenario.RE_ELECTED_LEADER: re_elected_leader.play, Scenario.UNDER_LOAD: under_load.play}


@dataclass(frozen=True, kw_only=True)
class ScenarioRequest:
    """A request to run a variant of a scenario on a Kafka release, and to keep the logs.

    `home` is an unpacked distribution, or None to download `release`. `repair` is a fix to apply to Kafka, or None.
    `out` is the directory for the logs, or None to delete them.
    """

    scenario: Scenario
    variant: Variant
    release: str
    home: Path | None
    repair: Repair | None
    out: Path | None
    command: str  # the command that reproduces the run
    keep_data: bool = False  # keep the data directories with the logs

    @property
    def is_lost(self) -> bool:
        """True if the run should lose a record, because it has a released Kafka, no fix, and no control experiment."""
        return self.home is None and self.repair is None and self.variant.control is None

    def kafka(self) -> Installation:
        """Return the Kafka installation to run, and download it if necessary. Raises ClusterError."""
        return installation.from_maven(self.release) if self.home is None else installation.from_home(self.home)


@dataclass(frozen=True)
class Played:
    """A finished run. `kept` is the directory of its logs, or None if they were deleted."""

    run: ScenarioRun
    kept: Path | None


def play(
    request: ScenarioRequest, kafka: Installation, number: int, say: Callable[[str], None], templates: Environment
) -> Played:
    """Run the scenario on a new cluster. `say` receives a line for each step. Raises ClusterError.

    The run with `number` 3 has its logs in the directory `run-3` of `request.out`.
    """
    with room() as here:
        if request.repair is not None:
            kafka = repaired(kafka, request.repair, here / "repaired")
        logs = new_directory(here / "logs" if request.out is None else request.out / f"run-{number}")
        data = logs / DATA if request.keep_data else None
        with running(Cluster(kafka, here, logs, request.variant.settings()), data) as cluster:
            run = _PLAYS[request.scenario](cluster, request.variant, say)
        if request.out is None:
            return Played(run, None)
    _write(logs, request, kafka, run, templates)
    return Played(run, logs)


def _write(logs: Path, request: ScenarioRequest, kafka: Installation, run: ScenarioRun, templates: Environment) -> None:
    facts = {
        "Kafka": kafka.release if request.home is None else f"{kafka.release} of {request.home}",
        "repair": request.repair,
        "A ends by": request.variant.end,
        "elected by": request.variant.election,
        "control": request.variant.control,
    }
    page = view.TimelinePage(
        title=f"{request.scenario.value}, Kafka {kafka.release}",
        summary="A controller and three brokers, A, B and C, with Kafka's default settings and its clients.",
        run=run,
        facts=tuple((name, str(value)) for name, value in facts.items() if value is not None),
        command=request.command,
    )
    (logs / TIMELINE).write_text(view.html(page, templates), encoding="utf-8")
    (logs / "run.json").write_text(json.dumps(run.plain(), indent=2) + "\n", encoding="utf-8")
