"""A witness: a schedule that shows a violation, with its replays under several protocols. Views share the replays."""

from dataclasses import dataclass
from functools import cached_property

from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.harness.trace.story import Story, story_of
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


@dataclass(frozen=True)
class Witness:
    """A schedule and its configuration, to replay under several protocols."""

    schedule: bytes
    settings: Configuration
    protocols: tuple[Protocol, ...]

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The run under each protocol, by the protocol's name."""
        return {protocol.name: replay(self.schedule, protocol, self.settings) for protocol in self.protocols}

    def story(self, protocol: Protocol, property_: str) -> Story:
        """Return the story of a protocol's run, next to the first run (if any) that keeps the property."""
        others = [run for run in self.runs.values() if property_ not in run.first_broken]
        return story_of(self.runs[protocol.name], *others[:1])
