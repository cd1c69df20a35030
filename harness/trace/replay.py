"""Replay a schedule of events under one protocol, and record every state, every broken property and a fingerprint.

A replay interprets the rules of the model, so it needs no compilation. The compiled engines find violations, and
replays check these findings.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from epochfuzz.harness.trace.causes import Causes, causes
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.vocabulary import state
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import event_text
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.trace.scenes import Scene


@dataclass(frozen=True)
class Step:
    """One event of a run: its number from 1, whether it was enabled, the state after it, and new violations."""

    number: int
    event: int
    applied: bool
    state: state.Partition
    newly_broken: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Run:
    """The result of a replay: a schedule, its states, and the broken properties under one protocol.

    `first_broken` maps each broken property to the number of the event that broke it first. A property that is checked
    at the end, such as `convergence`, has the number of the last event. The check at the end uses `healed`, the state
    of the partition after all faults have stopped.
    """

    protocol: Protocol
    settings: Configuration
    start: state.Partition
    steps: tuple[Step, ...]
    healed: state.Partition
    first_broken: dict[str, int]

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all events and their effects, as 16 hexadecimal digits.

        The digest covers each event, whether the event was enabled, the observable state after the event, and the
        properties that the event broke.
        """
        digest = hashlib.blake2b(digest_size=8)
        for step in self.steps:
            seen = event_text(step.event), step.applied, observe(step.state), step.newly_broken
            digest.update(json.dumps(seen, sort_keys=True, separators=(",", ":")).encode())
        return digest.hexdigest()

    @cached_property
    def scenes(self) -> tuple["Scene", ...]:
        """The drawable description of each step (scenes.py). The first scene shows the state before the first event."""
        from epochfuzz.harness.trace.scenes import narrate  # avoids a cycle: scenes imports this module

        return narrate(self)

    @cached_property
    def ending(self) -> "Scene":
        """The drawable description of the state after all faults have stopped (scenes.py)."""
        from epochfuzz.harness.trace.scenes import narrate_ending

        return narrate_ending(self)

    @property
    def schedule(self) -> bytes:
        """The events, whether they were enabled or not."""
        return bytes(step.event for step in self.steps)

    @cached_property
    def causes(self) -> dict[str, Causes]:
        """The protocol's choices that cause each broken property. A key is the name of a property."""
        return {name: causes(self.schedule, self.protocol, self.settings, name) for name in self.broken}

    @property
    def did_nothing(self) -> tuple[Step, ...]:
        """The steps whose event was not enabled, so the state did not change."""
        return tuple(step for step in self.steps if not step.applied)

    @property
    def description(self) -> str:
        """The run in words: a numbered sentence for each step, and another sentence if a property broke at the end."""
        sentences = [f"({scene.number}) {scene.sentence}" for scene in self.scenes[1:]]
        return " ".join([*sentences, self.ending.sentence] if self.ends_broken else sentences)

    @property
    def ends_broken(self) -> bool:
        """True if the run breaks a property that is checked at the end."""
        return any(properties.BY_NAME[name].at_end for name in self.first_broken)

    @property
    def broken(self) -> list[str]:
        """The properties that broke but should hold, the most severe first."""
        allowed = properties.permitted(self.settings)
        return [name for name in properties.NAMES if name in self.first_broken and name not in allowed]

    @property
    def permitted(self) -> list[str]:
        """The properties that broke and that the settings permit to break."""
        allowed = properties.permitted(self.settings)
        return [name for name in properties.NAMES if name in self.first_broken and name in allowed]

    @property
    def at(self) -> int | None:
        """The number of the first event that broke a property that should hold, or None.

        A property that only warns of a later loss, such as `isr-complete`, counts only if no other property broke.
        """
        broken = self.broken
        lasting = [name for name in broken if not properties.BY_NAME[name].is_warning] or broken
        return min((self.first_broken[name] for name in lasting), default=None)

    def shown_at(self, name: str) -> int:
        """Return the number of the step that the command `play` shows for a broken property.

        If the property is checked at the end, this is the step after the last event. Raises KeyError if the run does
        not break the property.
        """
        return self.first_broken[name] + properties.BY_NAME[name].at_end


def replay(schedule: Iterable[int], protocol: Protocol, settings: Configuration) -> Run:
    """Run a schedule of event bytes under a protocol.

    The result has all states, and the first violation of each property.
    """
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
    return Run(
        protocol=protocol, settings=settings, start=start, steps=tuple(steps), healed=healed, first_broken=first_broken
    )


def broken_text(run: Run) -> str:
    """Return the broken properties of a run and the number of the event that broke the first, or `nothing`, as text."""
    return f"{', '.join(run.broken)} (after event {run.at})" if run.broken else "nothing"
