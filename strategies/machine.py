"""State machines: protocols side by side on the same events, judged after each.

    from strategies.machine import replication_machine

    TestHighWatermark = replication_machine("hw", "kip-101").TestCase

There is one rule, which takes any event, and not one for each verb. Hypothesis leaves out rules at random, and the
shortest loss under `hw` needs seven verbs: seven runs of eight would go without one of them.
"""

from collections.abc import Collection
from functools import lru_cache
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from model import properties, state
from model.configuration import Configuration
from model.events import event_text, parse_event
from model.protocols import Protocol, parse_protocol
from model.step import step
from strategies.failures import CHECKS, failure_class
from strategies.schedules import simplest_first
from strategies.scouting import scout

# All that is quick to judge, but for `isr-complete`: loss waiting to happen, it would hide the loss.
LASTING = ("no-committed-loss", "no-acked-loss", "no-divergence", "log-matching", "hw-within-log")


def replication_machine(
    *protocols: str,
    settings: Configuration = Configuration(),  # noqa: B008 (it is immutable)
    judged: Collection[str] = LASTING,
    scouted: int = 5_000,
    disturbances: int = 2,
) -> type["ReplicationMachine"]:
    """A state machine that drives protocols side by side and raises a PropertyBroken where one breaks a property.

    Before most runs it scouts that many schedules, with that many disturbances each, for one that breaks one of the
    `judged` properties under the first protocol; see scouting.py. Raises ProtocolError or ValueError.
    """
    unknown = [name for name in judged if name not in CHECKS]
    if unknown:
        raise ValueError(f"unknown property {unknown[0]!r}; the properties are {', '.join(CHECKS)}")
    names = tuple(name for name in CHECKS if name in judged and name not in properties.permitted(settings))
    if not protocols or not names:
        raise ValueError("a machine needs a protocol to drive and a property to judge that may not break")
    choices = {
        "protocols": tuple(map(parse_protocol, protocols)),
        "configuration": settings,
        "judged": names,
        "scouted": scouted,
        "disturbances": disturbances,
        "__doc__": ReplicationMachine.__doc__,
    }
    return type("ReplicationMachine", (ReplicationMachine,), choices)


class ReplicationMachine(RuleBasedStateMachine):
    """One run: a partition for each protocol, and the events as they come. Made by `replication_machine`."""

    protocols: ClassVar[tuple[Protocol, ...]]
    configuration: ClassVar[Configuration]
    judged: ClassVar[tuple[str, ...]]
    scouted: ClassVar[int]
    disturbances: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()
        self._partitions = [state.initial(protocol, self.configuration) for protocol in self.protocols]
        self._happened: list[list[str]] = [[] for _ in self.protocols]
        self._way = b""

    @initialize(seed=st.integers(0, 2**32 - 1))
    def scout(self, seed: int) -> None:
        """Look for a way to a failure, of each judged property in turn. Seed 0, the simplest, takes no way."""
        if seed:
            name = self.judged[seed % len(self.judged)]
            self._way = _way(seed, self.protocols[0], self.configuration, name, self.scouted, self.disturbances)

    @rule(event=st.runner().flatmap(lambda machine: machine.next_event()))
    def happens(self, event: str) -> None:
        """An event happens to every protocol under which it is enabled."""
        self._way = self._way[1:]
        for protocol, p, happened in zip(self.protocols, self._partitions, self._happened, strict=True):
            if not step(p, parse_event(event)):
                continue
            happened.append(event)
            for name in self.judged:
                if CHECKS[name].is_broken(p):
                    raise failure_class(protocol, name)(protocol, name, happened)

    def next_event(self) -> st.SearchStrategy[str]:
        """The next event on the way, or any.

        Either is drawn as an index into the alphabet: without its seed a run makes the same events of the same
        choices. So the first thing that shrinking can do is to forget the way, and then any event is free to go.
        """
        alphabet = simplest_first(self.configuration)
        first, last = 0, len(alphabet) - 1
        if self._way:
            first = last = alphabet.index(self._way[0])
        return st.integers(first, last).map(lambda index: event_text(alphabet[index]))


@lru_cache(maxsize=1_000)  # shrinking tries the same seeds many times
def _way(seed: int, protocol: Protocol, settings: Configuration, name: str, schedules: int, disturbances: int) -> bytes:
    start = state.initial(protocol, settings)
    return scout(seed, start, settings, CHECKS[name], schedules=schedules, disturbances=disturbances)
