"""State machines: protocols side by side on the same events, with a check of the properties after each event.

    from epochfuzz.strategies.machine import replication_machine

    TestHighWatermark = replication_machine("hw", "kip-101").TestCase

There is a rule for each verb, and an invariant for each property, so that a failure reads

    state.produce(replica='A')
    ...
    state.no_committed_loss()

A subclass adds its own rules and invariants, or drives its own object next to the model:

    class MyLogs(replication_machine("kip-320")):
        def happened(self, verb, replica):
            getattr(self.mine, verb)(replica)
"""

from collections.abc import Callable, Collection
from typing import Any, ClassVar, cast

from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import invariant, precondition

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.properties import PROPERTIES, named, set_of
from epochfuzz.model.kafka.step import possible_events
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import event_text, in_order, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol
from epochfuzz.strategies import private_hypothesis, scouting
from epochfuzz.strategies.event_machine import EventMachine, rules_for
from epochfuzz.strategies.failures import PropertyBroken, failure_class, first_broken
from epochfuzz.strategies.profiles import PHASES
from epochfuzz.strategies.project import project
from epochfuzz.strategies.scouting import Scout
from epochfuzz.strategies.statistics import Statistics
from epochfuzz.strategies.tracebacks import hides_frames

__tracebackhide__ = hides_frames

# The properties that are quick to check. Warnings of a later loss are left out, because they would hide the loss.
LASTING = tuple(each.name for each in PROPERTIES if not each.at_end and not each.is_warning)


def replication_machine(
    *protocols: str | Protocol,
    settings: Configuration | None = None,
    judged: Collection[str] = LASTING,
    wanted: str | None = None,
    scouted: int = 150,
    disturbances: int = 6,
) -> type["ReplicationMachine"]:
    """Return a state machine that drives protocols side by side and raises PropertyBroken for a violation.

    A protocol is a Protocol or its text. Without protocols or settings, the machine takes the project's (project.py).
    Before each example it runs `scouted` random schedules, with `disturbances` disturbances in each. It looks for a
    schedule that breaks a property under the first protocol; see scouting.py. It looks for any of the `judged`
    properties, or only for the `wanted` one: Hypothesis ends its search soon after the first failure, and a frequent
    failure may hide a rare one. Raises ProtocolError or ValueError.
    """
    protocols = protocols or project().protocols
    settings = project().settings if settings is None else settings
    chosen = {named(name) for name in (judged if wanted is None else (*judged, wanted)) if name in judged or wanted}
    names = tuple(
        each.name
        for each in PROPERTIES
        if each in chosen and each.name in judged and each.name not in properties.permitted(settings)
    )
    if not protocols or not names or wanted not in (None, *names):
        raise ValueError("a machine needs a protocol, and checks at least one property, including the wanted one")
    parsed = tuple(each if isinstance(each, Protocol) else parse_protocol(each) for each in protocols)
    alphabet = in_order(possible_events(*(Execution(protocol, settings).state for protocol in parsed)))
    members: dict[str, Any] = {
        "protocols": parsed,
        "alphabet": alphabet,
        "scout": Scout(parsed[0], settings, names, names if wanted is None else (wanted,), scouted, disturbances),
        "database_key": f"{[each.name for each in parsed]} {settings.text()} {names} {wanted} {scouted} {disturbances}",
        "__doc__": ReplicationMachine.__doc__,
        **rules_for(alphabet),
        **{name.replace("-", "_"): _invariant_for(name) for name in names},
    }
    machine: type[ReplicationMachine] = type("ReplicationMachine", (ReplicationMachine,), members)
    private_hypothesis.set_key(machine, machine.database_key)
    return machine


def _invariant_for(name: str) -> Callable[..., None]:
    """Return the invariant that a property holds.

    Hypothesis reports it only if it is broken, not after each step.
    """

    def is_broken(machine: "ReplicationMachine") -> bool:
        return machine.broken is not None and machine.broken.property == name

    def holds(machine: "ReplicationMachine") -> None:
        if is_broken(machine):
            raise cast(PropertyBroken, machine.broken)

    holds.__name__ = name.replace("-", "_")
    holds.__qualname__ = f"ReplicationMachine.{holds.__name__}"
    holds.__doc__ = f"{name} must hold. This would break it: {named(name).meaning}"
    return precondition(is_broken)(invariant()(holds))


class ReplicationMachine(EventMachine):
    """One run of protocols side by side.

    `executions` has the execution of each protocol, and `histories` the texts of the events that the protocol enabled.
    `replication_machine` makes the class. `broken` is the failure that the invariants raise: the failure of the first
    protocol that broke a property. If that protocol broke several properties, `broken` has the most severe.
    """

    protocols: ClassVar[tuple[Protocol, ...]]
    scout: ClassVar[Scout]
    database_key: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # Hypothesis explains a failure by tracing every line. That takes minutes and names lines of the model.
        cls.TestCase.settings = hypothesis_settings(cls.TestCase.settings, phases=PHASES)

    def __init__(self) -> None:
        super().__init__()
        self.executions = [Execution(protocol, self.scout.settings) for protocol in self.protocols]
        self.histories: list[list[str]] = [[] for _ in self.protocols]
        self.broken: PropertyBroken | None = None
        self.occurred = b""  # the events that at least one protocol enabled
        several = len(self.protocols) > 1
        self._statistics = [Statistics(f" under {each.name}" if several else "") for each in self.protocols]
        self._tried: list[Execution] = []  # copies of the executions, to try events; empty after a copy has changed

    def happened(self, verb: str, replica: str) -> None:
        """React to an event, such as "fetch", "B", that happened under at least one protocol.

        A subclass overrides it. The machine calls it after each event that at least one protocol enables, and
        before the invariants.
        """

    def happen(self, event: int) -> None:
        """Apply an event under every protocol that enables it."""
        enabled = [execution.apply(event) for execution in self.executions]
        self._tried = []
        for protocol, execution, history, statistics, is_enabled in zip(
            self.protocols, self.executions, self.histories, self._statistics, enabled, strict=True
        ):
            statistics.note(execution.state, verb_of(event) if is_enabled else None)
            if is_enabled:
                history.append(event_text(event))
                name = first_broken(execution, set_of(self.scout.judged))
                if name and self.broken is None:
                    self.broken = failure_class(protocol, name)(protocol, name, history)
        if any(enabled):
            self.occurred += bytes([event])
            self.happened(*event_text(event).split())

    def refuse(self, event: int) -> None:
        """Note the coverage goals of an event that every protocol rejects, such as `fetch fenced`."""
        for execution, statistics in zip(self.executions, self._statistics, strict=True):
            execution.apply(event)
            statistics.note(execution.state)

    def teardown(self) -> None:
        """Give Hypothesis the targets of the example, which the first protocol determines."""
        self._statistics[0].end()

    def is_possible(self, event: int) -> bool:
        """Return whether a protocol enables the event."""
        if not self._tried:
            self._tried = [execution.copy() for execution in self.executions]
        is_enabled = any(execution.apply(event) for execution in self._tried)
        if is_enabled:
            self._tried = []
        return is_enabled

    def schedule(self, seed: int) -> bytes:
        """Return a schedule to a failure of the first protocol, or a balanced schedule if the scout found none."""
        return scouting.find(self.scout, seed, hypothesis_settings().stateful_step_count)
