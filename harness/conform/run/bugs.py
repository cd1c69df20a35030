"""Draw schedules that fail on a system with a known bug: a wrong rule that some release or client had.

A known bug is a protocol with one wrong choice of a mechanism. The glossary has an example where the choice breaks a
property. The model runs random schedules under this protocol, millions of events a second, until a schedule breaks the
property. The schedule must keep the property under the protocol without the bug. Schedules drawn at random for an
adapter seldom show such bugs, see docs/explain/coverage.md.
"""

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from epochfuzz.harness.conform.client.playable import is_playable
from epochfuzz.harness.conform.oracle.client_guarantees import CLIENT_PROPERTIES
from epochfuzz.harness.engine.shrink.shrink import breaking_prefix
from epochfuzz.harness.engine.walk.hunt import Hunter
from epochfuzz.harness.reference.explain import breaking_example
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_MOST = 1 << 15  # random schedules to run until one breaks a property, at most: half a second of one core
_ATTEMPTS = 32  # schedules to draw until one keeps the property without the bug, and can be played by a client
_SEED = 0  # the seed for the check whether a bug breaks its property in any schedule


@dataclass(frozen=True)
class KnownBug:
    """A protocol with one wrong choice of a mechanism (`choice`), and the property that the choice breaks.

    `protocol` has the wrong choice. `sound` is the protocol without this choice.
    """

    sound: Protocol
    protocol: Protocol
    choice: str  # such as fencing=none
    breaks: str
    settings: Configuration

    @cached_property
    def _hunter(self) -> Hunter:
        return Hunter(self.protocol, self.settings, self._wanted)

    @property
    def _wanted(self) -> int:
        return properties.named(self.breaks).bit

    def schedule(self, draw: random.Random, *, is_client: bool = False) -> bytes | None:
        """Return a schedule that breaks the property only with the bug, or None if random schedules show none.

        The schedule ends with the violation. With `is_client`, a schedule that a client can play is preferred.
        """
        unplayable = None
        for _ in range(_ATTEMPTS):
            found = self._hunter.first("swarm", draw.getrandbits(63), _MOST)
            if found is None:
                break
            if self._breaks_without(found[1]):
                continue
            if not is_client or is_playable(found[1], self.sound, self.settings):
                return found[1]
            unplayable = found[1]
        return unplayable

    def _breaks_without(self, events: bytes) -> bool:
        """Return whether a schedule also breaks the property under the protocol without the bug."""
        return breaking_prefix(events, self.sound, self.settings, self._wanted) is not None


@lru_cache(maxsize=4)
def known_bugs(protocol: Protocol, settings: Configuration, *, is_client: bool = False) -> tuple[KnownBug, ...]:
    """Return the known bugs that break a property under the settings.

    With `is_client`, return only the bugs that break a property in CLIENT_PROPERTIES. A cache keeps the last four
    results.
    """
    candidates = _candidates(protocol, settings, CLIENT_PROPERTIES if is_client else properties.NAMES)
    return tuple(bug for bug in candidates if bug.schedule(random.Random(_SEED)))


def schedule(
    protocol: Protocol, settings: Configuration, seed: int, number: int, *, is_client: bool = False
) -> bytes | None:
    """Return schedule `number` of a seed, which shows a known bug, or None if no schedule is found for any bug.

    The bugs take turns from number to number.
    """
    bugs = known_bugs(protocol, settings, is_client=is_client)
    draw = random.Random(f"{seed} {number}")
    turns = (bugs[(number + turn) % len(bugs)] for turn in range(len(bugs)))
    return next(filter(None, (bug.schedule(draw, is_client=is_client) for bug in turns)), None)


def _candidates(protocol: Protocol, settings: Configuration, judged: Collection[str]) -> Iterator[KnownBug]:
    """Yield each variant of a protocol with one wrong choice. The glossary says which choices break a property.

    Only properties in `judged` count.
    """
    judged = set(judged).intersection(properties.applying(protocol.model.initial(protocol, settings)))
    for mechanism, choices in MECHANISMS.items():
        for choice in choices:
            example = breaking_example(choice)
            if choice == protocol.choice(mechanism) or example is None or example.breaks not in judged:
                continue
            wrong = protocol.with_choices(**{mechanism: choice.text})
            yield KnownBug(protocol, wrong, f"{mechanism}={choice.text}", example.breaks, settings)
