"""Run an exhaustive search on Spark, from the start or from its last complete level."""

import shlex
import time
from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import SparkSession

from epochfuzz.harness.campaign.search.expander import Expander
from epochfuzz.harness.campaign.search.levels import LevelCount, Levels
from epochfuzz.harness.campaign.search.retrace import shortest
from epochfuzz.harness.campaign.store.directory import CampaignDirectory
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.engine.explore.explore import Exploration, SearchProgress, confirm
from epochfuzz.harness.environment.version import model_digest
from epochfuzz.harness.findings.search_request import SearchRequest, command_to_resume

ASKED = pa.schema({"asked": pa.string()})  # the request (SearchRequest.text)
OUTCOME = pa.schema({"shortest": pa.binary()})  # the schedule that breaks the property, once it is found

Report = Callable[[SearchProgress], None]


class SearchCampaign:
    """An exhaustive search, with its levels stored in a directory. `asked` has the property and the bounds."""

    def __init__(self, directory: CampaignDirectory, asked: SearchRequest) -> None:
        self.asked = asked
        self._directory = directory
        self._expander = Expander(asked)
        self._levels = Levels(directory, asked)
        self._noted = self._levels.noted()

    @staticmethod
    def start(spark: SparkSession, uri: str, asked: SearchRequest) -> "SearchCampaign":
        """Start a search in a directory. Raises CampaignError if the directory already holds a search or a campaign."""
        directory = CampaignDirectory(spark, uri)
        if directory.has("parameters"):
            raise CampaignError(f"{uri} already holds a campaign; choose another directory")
        if directory.has("search"):
            raise CampaignError(
                f"{uri} already holds a search; resume with `{command_to_resume(uri)}`, or choose another directory"
            )
        directory.write_rows([{"asked": asked.text()}], ASKED, "search")
        return SearchCampaign(directory, asked)

    @staticmethod
    def load(spark: SparkSession, uri: str) -> "SearchCampaign":
        """Return the search in a directory.

        Raises CampaignError if the directory holds no search, or if the model's rules have changed since the search
        began.
        """
        directory = CampaignDirectory(spark, uri)
        rows = directory.read_rows("search", ASKED)
        if not rows:
            raise CampaignError(f"{uri} holds no search; `epochfuzz explore --out {shlex.quote(uri)}` starts one")
        asked = SearchRequest.from_text(rows[0]["asked"])
        if asked.model != model_digest():
            raise CampaignError(
                f"{uri} was begun with model {asked.model} (epochfuzz {asked.version}), but this is model"
                f" {model_digest()}; resume with that version, or start another search"
            )
        return SearchCampaign(directory, asked)

    def run(self, report: Report) -> Exploration:
        """Search the remaining levels, and return the result.

        Raises NotConfirmed if a replay of the schedule does not break the property.
        """
        if not self._noted:
            self._levels.begin(self._expander.first)
            self._note(LevelCount(0, len(self._expander.first), 0, False, 0.0), report)
        while self._goes_on():
            self._note(self._next(len(self._noted)), report)
        return self._result()

    @property
    def seconds(self) -> float:
        """The time of all levels, in seconds. It excludes the start of Spark and the work to find the schedule."""
        return sum(each.seconds for each in self._noted)

    def _goes_on(self) -> bool:
        last = self._noted[-1]
        return last.states > 0 and (self.asked.depth is None or last.level < self.asked.depth)

    def _next(self, level: int) -> LevelCount:
        """Compute and write level `level`, and return its counts."""
        started = time.monotonic()
        transitions, broken = self._levels.expand(level - 1)
        states = 0 if broken else self._levels.add(level)
        return LevelCount(level, states, transitions, broken, time.monotonic() - started)

    def _note(self, counted: LevelCount, report: Report) -> None:
        self._levels.note(counted)
        self._noted.append(counted)
        states, transitions = (sum(getattr(each, name) for each in self._noted) for name in ("states", "transitions"))
        report(SearchProgress(counted.level, states, transitions, counted.states))

    def _result(self) -> Exploration:
        """Return the result of the search.

        The counts of states and transitions include a level only if all its successors were computed.
        """
        last = self._noted[-1]
        covered = self._noted[:-1]  # the states of the last level, if it has any, have not been expanded
        states = sum(each.states for each in covered)
        transitions = sum(each.transitions for each in (covered if last.broken else self._noted))
        depth = last.level - last.broken
        schedule = self._shortest() if last.broken else None
        memory = states * 4 * self._expander.halves
        complete = last.states == 0 and not last.broken
        return Exploration(
            states=states,
            transitions=transitions,
            depth=depth,
            complete=complete,
            shortest=schedule,
            memory_exhausted=False,
            memory=memory,
            symmetry=self._expander.symmetry,
        )

    def _shortest(self) -> bytes:
        """Return the shortest schedule that breaks the property: among several, the first in byte order.

        The first call writes the schedule to the table `outcome`, and later calls read it. Raises NotConfirmed.
        """
        found = self._directory.read_rows("outcome", OUTCOME)
        if found:
            return bytes(found[0]["shortest"])
        schedule = shortest(self.asked, self._levels, self._expander, self._noted[-1].level - 1)
        confirm([self.asked.protocol], self.asked.settings, self.asked.wanted, schedule)
        self._directory.write_rows([{"shortest": schedule}], OUTCOME, "outcome")
        return schedule
