"""Replay: one schedule under one protocol, step by step, with a verdict and a fingerprint.

Replay runs the model interpreted, needs no compilation, and is what every other engine's findings are checked with.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from epochfuzz.harness.witness.causes import Causes, causes
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.vocabulary import state
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import event_text
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.witness.scenes import Scene


@dataclass(frozen=True)
class Step:
    """One event of a run: its number from 1, whether it was enabled, the state after it, and what it newly broke."""

    number: int
    event: int
    applied: bool
    state: state.Partition
    newly_broken: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """A schedule as it went under one protocol.

    `first_broken` gives, for each property that broke, the number of the event after which it first did; for
    what is judged at the end, such as `convergence`, that is the last event; it is judged of `healed`, what the
    partition comes to when all faults stop there.
    """

    protocol: Protocol
    settings: Configuration
    start: state.Partition
    steps: tuple[Step, ...]
    healed: state.Partition
    first_broken: dict[str, int]

    @cached_property
    def fingerprint(self) -> str:
        """A digest of every event, whether it was enabled, what could be seen after it, and what it newly broke."""
        digest = hashlib.blake2b(digest_size=8)
        for step in self.steps:
            seen = event_text(step.event), step.applied, observe(step.state), step.newly_broken
            digest.update(json.dumps(seen, sort_keys=True, separators=(",", ":")).encode())
        return digest.hexdigest()

    @cached_property
    def scenes(self) -> tuple["Scene", ...]:
        """What there is to see and to say of each step, the start first."""
        from epochfuzz.harness.witness.scenes import narrate  # which needs to know what a run is

        return narrate(self)

    @cached_property
    def ending(self) -> "Scene":
        """What there is to see and to say once the schedule is over and all faults have stopped."""
        from epochfuzz.harness.witness.scenes import narrate_ending

        return narrate_ending(self)

    @property
    def schedule(self) -> bytes:
        """The events, applied or not."""
        return bytes(step.event for step in self.steps)

    @cached_property
    def causes(self) -> dict[str, Causes]:
        """Which choices of the protocol broke what broke and should not, by property."""
        return {name: causes(self.schedule, self.protocol, self.settings, name) for name in self.broken}

    @property
    def did_nothing(self) -> tuple[Step, ...]:
        """The steps whose event was not enabled, so that the state stayed as it was."""
        return tuple(step for step in self.steps if not step.applied)

    @property
    def told(self) -> str:
        """The run in words: a sentence for each step, numbered, and one for the end if that is what it breaks."""
        sentences = [f"({scene.number}) {scene.sentence}" for scene in self.scenes[1:]]
        return " ".join([*sentences, self.ending.sentence] if self.ends_broken else sentences)

    @property
    def ends_broken(self) -> bool:
        """Whether it breaks a property that is judged at the end."""
        return any(properties.BY_NAME[name].at_end for name in self.first_broken)

    @property
    def broken(self) -> list[str]:
        """The properties that broke and should not, the most severe first."""
        allowed = properties.permitted(self.settings)
        return [name for name in properties.NAMES if name in self.first_broken and name not in allowed]

    @property
    def permitted(self) -> list[str]:
        """The properties that broke as the contract with clients permits."""
        allowed = properties.permitted(self.settings)
        return [name for name in properties.NAMES if name in self.first_broken and name in allowed]

    @property
    def at(self) -> int | None:
        """The number of the event after which a property was first broken, None where none was.

        Loss that is waiting to happen counts only where nothing else broke.
        """
        broken = self.broken
        lasting = [name for name in broken if not properties.BY_NAME[name].is_warning] or broken
        return min((self.first_broken[name] for name in lasting), default=None)


def replay(schedule: Iterable[int], protocol: Protocol, settings: Configuration) -> Run:
    """Run a schedule of event bytes under a protocol. A property is reported where it first broke."""
    execution = Execution(protocol, settings)
    p = execution.state
    seen = start = p.copy()
    steps: list[Step] = []
    first_broken: dict[str, int] = {}
    for number, event in enumerate(schedule, start=1):
        applied = execution.apply(event)
        newly_broken = tuple(name for name in properties.names(execution.broken()) if name not in first_broken)
        first_broken |= dict.fromkeys(newly_broken, number)
        seen = p.kept(seen)
        steps.append(Step(number, event, applied, seen, newly_broken))
    healed, broken_at_end = execution.healed()
    for name in properties.names(broken_at_end):
        first_broken[name] = len(steps)
    return Run(protocol, settings, start, tuple(steps), healed, first_broken)
