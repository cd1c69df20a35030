"""State machines: protocols side by side on the same events, judged after each.

    from strategies.machine import replication_machine

    TestHighWatermark = replication_machine("hw", "kip-101").TestCase

There is one rule, which takes any event, and not one for each verb. Hypothesis leaves out rules at random, and the
shortest loss under `hw` needs seven verbs: seven runs of eight would go without one of them.
"""

from collections.abc import Collection
from typing import ClassVar

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from epochfuzz.model import properties
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import event_text, parse_event
from epochfuzz.model.execution import Execution
from epochfuzz.model.properties import PROPERTIES, named, set_of
from epochfuzz.model.protocols import Protocol, parse_protocol
from epochfuzz.strategies import scouting
from epochfuzz.strategies.failures import failure_class, first_broken
from epochfuzz.strategies.profiles import PHASES
from epochfuzz.strategies.schedules import simplest_first
from epochfuzz.strategies.scouting import Scout

# All that is quick to judge, but for what warns of a loss that is waiting to happen: it would hide the loss.
LASTING = tuple(each.name for each in PROPERTIES if not each.at_end and not each.is_warning)


def replication_machine(
    *protocols: str | Protocol,
    settings: Configuration = Configuration(),  # noqa: B008 (it is immutable)
    judged: Collection[str] = LASTING,
    wanted: str | None = None,
    scouted: int = 5_000,
    disturbances: int = 2,
) -> type["ReplicationMachine"]:
    """A state machine that drives protocols side by side and raises a PropertyBroken where one breaks a property.

    A protocol is one, or its text.
    Before a run it scouts that many schedules, with that many disturbances in each, for one that breaks a property
    under the first protocol; see scouting.py. It looks for each of the judged properties in turn, or for the wanted
    one alone: Hypothesis ends its search soon after the first failure, and a frequent one would hide a rare one.
    Raises ProtocolError or ValueError.
    """
    chosen = {named(name) for name in (judged if wanted is None else (*judged, wanted)) if name in judged or wanted}
    names = tuple(
        each.name
        for each in PROPERTIES
        if each in chosen and each.name in judged and each.name not in properties.permitted(settings)
    )
    if not protocols or not names or wanted not in (None, *names):
        raise ValueError("a machine needs a protocol to drive, and judges one property at least, the wanted among them")
    parsed = tuple(each if isinstance(each, Protocol) else parse_protocol(each) for each in protocols)
    choices = {
        "protocols": parsed,
        "scout": Scout(parsed[0], settings, names, scouted, disturbances),
        "wanted": names if wanted is None else (wanted,),
        "__doc__": ReplicationMachine.__doc__,
    }
    machine: type[ReplicationMachine] = type("ReplicationMachine", (ReplicationMachine,), choices)
    # Hypothesis explains a failure by tracing every line that runs: minutes, to name lines of the model.
    machine.TestCase.settings = hypothesis_settings(machine.TestCase.settings, phases=PHASES)
    return machine


class ReplicationMachine(RuleBasedStateMachine):
    """One run: `executions` has one for each protocol; the events as they come. Made by `replication_machine`."""

    protocols: ClassVar[tuple[Protocol, ...]]
    scout: ClassVar[Scout]
    wanted: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        super().__init__()
        self.executions = [Execution(protocol, self.scout.settings) for protocol in self.protocols]
        self._happened: list[list[str]] = [[] for _ in self.protocols]
        self._way = b""

    @initialize(seed=st.integers(0, 2**32 - 1))
    def scouting(self, seed: int) -> None:
        """Where to go: a way to a failure, or for seed 0, the simplest, wherever chance leads."""
        if seed:
            self._way = scouting.find(self.scout, seed, self.wanted[seed % len(self.wanted)])

    @rule(event=st.runner().flatmap(lambda machine: machine.next_event()))
    def happens(self, event: str) -> None:
        """An event happens to every protocol under which it is enabled."""
        self._way = self._way[1:]
        for protocol, execution, happened in zip(self.protocols, self.executions, self._happened, strict=True):
            if execution.apply(parse_event(event)):
                happened.append(event)
                broken = first_broken(execution, set_of(self.scout.judged))
                if broken:
                    raise failure_class(protocol, broken)(protocol, broken, happened)

    def next_event(self) -> st.SearchStrategy[str]:
        """The next event on the way, or any.

        Either is drawn as an index into the alphabet: without its seed, a run makes the same events of the same
        choices. So the first thing that shrinking can do is to forget the way, and then any event is free to go.
        """
        alphabet = simplest_first(self.scout.settings)
        first, last = 0, len(alphabet) - 1
        if self._way:
            first = last = alphabet.index(self._way[0])
        return st.integers(first, last).map(lambda index: event_text(alphabet[index]))
