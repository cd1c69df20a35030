"""Hypothesis state machines that run protocols side by side on the same events, and check properties after each event.

    from epochfuzz.strategies.machine import replication_machine

    TestHighWatermark = replication_machine("hw", "kip-101").TestCase

There is a rule for each verb, and an invariant for each property. So a failure looks like this:

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
    """Return a Hypothesis state machine class that runs protocols side by side. A violation raises PropertyBroken.

    Without protocols or settings, the machine uses the table `tool.epochfuzz` in pyproject.toml. The machine checks the
    `judged` properties, except those that may break under the settings.

    Each Hypothesis example first searches up to `scouted` random schedules. Each schedule has `disturbances`
    disturbances, such as crashes. If a schedule breaks a `judged` property under the first protocol, the example
    follows it. For a rare failure, name its property in `wanted`, because a frequent failure may hide a rare failure.

    Raises ProtocolError, UnknownProperty or ProjectError, and ValueError if there is no property to check.
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
        "scout": Scout(
            protocol=parsed[0],
            settings=settings,
            judged=names,
            wanted=names if wanted is None else (wanted,),
            schedules=scouted,
            disturbances=disturbances,
        ),
        "database_key": f"{[each.name for each in parsed]} {settings.text()} {names} {wanted} {scouted} {disturbances}",
        "__doc__": ReplicationMachine.__doc__,
        **rules_for(alphabet),
        **{name.replace("-", "_"): _invariant_for(name) for name in names},
    }
    machine: type[ReplicationMachine] = type("ReplicationMachine", (ReplicationMachine,), members)
    private_hypothesis.set_key(machine, machine.database_key)
    return machine


def _invariant_for(name: str) -> Callable[..., None]:
    """Return the invariant for a property. The invariant raises the machine's failure if the property is broken.

    The invariant has a precondition, so that Hypothesis lists it only in the step that breaks the property.
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
    """A Hypothesis state machine that runs protocols side by side. `replication_machine` returns a subclass.

    `executions` contains a run of each protocol, with its `state`. `histories` contains the enabled events of each
    protocol, as texts. `broken` is the failure that an invariant raises, or None. The failure names the first protocol
    that broke a property, and its most severe broken property.
    """

    protocols: ClassVar[tuple[Protocol, ...]]
    scout: ClassVar[Scout]
    database_key: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # To explain a failure, Hypothesis would trace every line. That takes minutes and names lines of the model.
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
        """Handle an event that at least one protocol enabled. Override this method in a subclass; it does nothing here.

        `verb` is a name such as "fetch", and `replica` is a letter such as "B". The machine calls the method after each
        such event, before the invariants.
        """

    def happen(self, event: int) -> None:
        """Apply an event under every protocol that enables it, and check the properties."""
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
        """Record the coverage goals that a rejected event reaches, such as `fetch fenced`."""
        for execution, statistics in zip(self.executions, self._statistics, strict=True):
            execution.apply(event)
            statistics.note(execution.state)

    def teardown(self) -> None:
        """Report targets to Hypothesis: numbers from the first protocol's run that are larger in rare situations."""
        self._statistics[0].end()

    def is_possible(self, event: int) -> bool:
        """Return whether at least one protocol enables the event."""
        if not self._tried:
            self._tried = [execution.copy() for execution in self.executions]
        is_enabled = any(execution.apply(event) for execution in self._tried)
        if is_enabled:
            self._tried = []
        return is_enabled

    def schedule(self, seed: int) -> bytes:
        """Return a schedule that breaks a property under the first protocol, or else a balanced schedule.

        If the scout (scouting.py) found no schedule that breaks a property, each verb has a share of the schedule's
        events.
        """
        return scouting.find(self.scout, seed, hypothesis_settings().stateful_step_count)
