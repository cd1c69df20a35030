"""An example of a job: count the elections in random schedules, and find the schedule with the most elections."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.run.campaign import Campaign, Progress
from epochfuzz.harness.campaign.run.job import Job
from epochfuzz.harness.conform.run.selection import Selection, schedule
from epochfuzz.harness.environment.version import epochfuzz_version, model_digest
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

_TEXT, _NUMBER = pa.string(), pa.int64()


@dataclass
class Elections(Job[dict[str, Any]]):
    """Counts the elections in `blocks` blocks of ten schedules. The result has the sum and the largest number."""

    NAME = f"{__name__}:Elections"
    PARAMETERS = pa.schema({"engine": _TEXT, "seed": _NUMBER, "blocks": _NUMBER, "model": _TEXT, "version": _TEXT})
    BLOCKS = pa.schema({"elections": _NUMBER, "most": _NUMBER, "schedule": _NUMBER})
    settings, names, counted, module = Configuration(), ("kip-320",), ("schedules", "elections"), __name__

    seed: int = 0
    blocks: int = 1
    model: str = field(default_factory=model_digest)
    version: str = field(default_factory=epochfuzz_version)

    def row(self) -> dict[str, Any]:
        return {"engine": self.NAME, **asdict(self)}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Elections":
        return cls(**{name: value for name, value in row.items() if name != "engine"})

    def block(self, number: int) -> dict[str, Any]:
        elections = {each: self.elections(each) for each in range(10 * number, 10 * number + 10)}
        most = max(elections, key=lambda each: elections[each])
        return {"elections": sum(elections.values()), "most": elections[most], "schedule": most}

    def elections(self, number: int) -> int:
        events = schedule(Selection.RANDOM, parse_protocol("kip-320"), self.settings, self.seed, number)
        return sum(text.startswith("elect") for text in schedule_texts(events))

    def counts(self, row: Mapping[str, Any]) -> dict[str, int]:
        return {"schedules": 10, "elections": row["elections"]}

    def finish(self, campaign: Campaign[dict[str, Any]], progress: Progress) -> dict[str, int]:
        return {"schedules": 10 * self.blocks, "events": 0, "findings": 0}

    def outcome(self, campaign: Campaign[dict[str, Any]]) -> dict[str, Any]:
        best = max(campaign.tables.blocks(self.BLOCKS), key=lambda row: (row["most"], -row["schedule"]))
        counts = campaign.tables.counts(self.counted)
        return {"elections": counts["elections"], "most": best["most"], "schedule": best["schedule"]}
