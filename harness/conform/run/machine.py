"""Conformance tests for pytest: a Hypothesis state machine that sends events to an adapter and checks the replies.

An example follows a schedule, because events drawn by Hypothesis seldom reach deep states. Half of the schedules are
drawn as in `epochfuzz conform`, and the other half are balanced (strategies/balance.py). Shrinking first
drops the schedule of an example, and then removes or replaces single events. This works because an example that follows
a schedule records the choices of an example that follows none (see strategies/event_machine.py).
"""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar
from unittest import TestCase

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from epochfuzz.harness.conform.oracle.healing import heal
from epochfuzz.harness.conform.oracle.judge import FIELDS, OWN, JudgedBy, fields_of, meant
from epochfuzz.harness.conform.oracle.known import Known, load_known
from epochfuzz.harness.conform.oracle.known import reason as accepted
from epochfuzz.harness.conform.oracle.lockstep import LockStep, is_from_reset
from epochfuzz.harness.conform.oracle.promises import Promises
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind, SubjectFailed, SubjectUnable
from epochfuzz.harness.conform.protocol.subject import Answering, CheckedSubject, CommandSubject, Subject
from epochfuzz.harness.conform.run.block import Trial
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
from epochfuzz.harness.conform.run.drive import Answers, ConformanceFailure, Setting
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.selection import CLIENTS_FOR, Selection, schedule
from epochfuzz.harness.serve.settings import settings_for_clients
from epochfuzz.harness.trace.causes import reason
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS, event_text, parse_event, schedule_texts, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, parse_protocol
from epochfuzz.strategies import private_hypothesis
from epochfuzz.strategies.balance import balanced
from epochfuzz.strategies.profiles import PHASES
from epochfuzz.strategies.project import project
from epochfuzz.strategies.schedules import simplest_first
from epochfuzz.strategies.statistics import Statistics, record
from epochfuzz.strategies.tracebacks import hides_frames

__tracebackhide__ = hides_frames

Factory = Callable[[], Subject]


class NonConformance(AssertionError):
    """The system under test differs from the model, or breaks a guarantee."""


_SEEDS = st.integers(0, 2**32 - 1)
# The number of schedules that an example may pick from. To choose a schedule takes time, and needs all earlier choices.
_CHOSEN = 256
_STEPS = 100  # a schedule seldom needs more steps

# Each kind of discrepancy has its own class, so that Hypothesis treats the kinds as different failures.
_CLASSES = {
    kind: type(f"{kind.title()}", (NonConformance,), {"__doc__": "See NonConformance."}) for kind in DiscrepancyKind
}


def conformance_test(
    factory: Factory,
    *,
    protocol: str | None = None,
    judge: str = "lock-step",
    selection: str = "random",
    known: str | Path | Sequence[Known] = (),
    client: bool = False,
    **config: Any,
) -> type[TestCase]:
    """Return a test case that runs schedules on the adapter that `factory` makes.

    epochfuzz calls the factory once, and resets the adapter for each schedule. `config` are fields of Configuration.
    Defaults come from the table `tool.epochfuzz` in pyproject.toml. Without this table, the protocol is `kip-320`.
    `judge` is `lock-step`, or `promises` to check only the guarantees to clients. `selection` is `random`, `coverage`
    for schedules that reach new coverage points, or `bugs` for schedules that fail on a system with a known bug.
    `known` is a file of known differences, as for `epochfuzz conform --known`. With `client`, the factory returns the
    CommandSubject of a Kafka client, and the test runs the schedules of `epochfuzz conform --client`.

    Raises ProtocolError, ConfigurationError, KnownError, ValueError and OSError.

        TestMyLog = conformance_test(MyLog, protocol="kip-320", replicas=3)
    """
    here = project()
    chosen = next(iter(here.protocols), GENERATIONS["kip-320"]) if protocol is None else parse_protocol(protocol)
    setting = Setting(chosen, Configuration(**{**here.config, **config}), JudgedBy(judge))
    differences = load_known(Path(known)) if isinstance(known, str | Path) else tuple(known)
    if client:
        return _client_test(factory, setting, differences)
    subject = _Subject(factory)
    key = f"{subject.name} {chosen.name} {setting.settings.text()} {judge} {selection} {differences}"
    members = {
        "setting": setting,
        "subject": subject,
        "selection": Selection(selection),
        "known": differences,
        "database_key": key,
    }
    machine = type("Conformance", (ConformanceMachine,), members)
    private_hypothesis.set_key(machine, key)

    class ConformanceTest(machine.TestCase):  # type: ignore[misc, name-defined]
        """Run the state machine."""

        settings = hypothesis_settings(deadline=None, phases=PHASES, stateful_step_count=_STEPS)

        @classmethod
        def tearDownClass(cls) -> None:
            """Close the adapter."""
            subject.close()

    return ConformanceTest


def _client_test(factory: Factory, setting: Setting, known: tuple[Known, ...]) -> type[TestCase]:
    """Return a test case that runs schedules on the client whose command `factory` returns. Raises ValueError."""
    from epochfuzz.harness.conform.client.client_test import ClientTest

    subject = factory()
    if not isinstance(subject, CommandSubject):
        raise ValueError("client=True needs a factory that returns a CommandSubject")
    plan = Plan(
        command=tuple(subject.command),
        protocols=[setting.protocol],
        settings=settings_for_clients(setting.settings),
        schedules=0,
        seed=0,
        judged_by=JudgedBy.PROMISES,
        patience=subject.patience,
        max_failures=1,
        processes_for=CLIENTS_FOR,
        known=known,
        selection=Selection.BUGS,
        is_client=True,
    )
    return type("ConformanceTest", (ClientTest,), {"plan": plan})


def nonconformance(fault: Discrepancy, sent: bytes, more: str) -> NonConformance:
    """Return the exception for a discrepancy after the events in `sent`. `more` is the end of its first line."""
    lines = [f"{fault.kind}: {fault.sentence}{more}", f"after {', '.join(schedule_texts(sent)) or 'the reset'}"]
    error: NonConformance = _CLASSES[fault.kind]("\n".join([*lines, *filter(None, [fault.output])]))
    return error


def _check_names(observation: wire.Observation) -> None:
    """Raise NonConformance for a misspelt name of a field, because the field would never be compared."""
    shown = set(fields_of(observation))
    missing = FIELDS.keys() - shown
    for unknown in sorted(shown - FIELDS.keys()):
        name = None if f".{OWN}." in unknown else meant(unknown, missing)
        if name is not None:
            raise NonConformance(f"observe() shows {unknown}, which is not a field; did you mean {name}?")


class _Subject:
    """The adapter of a test case. The first example creates it."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory
        self._made: Subject | None = None

    @property
    def name(self) -> str:
        """A name for the factory. It includes the names in the factory's code, because all lambdas have equal names."""
        code = getattr(self._factory, "__code__", None)
        name = getattr(self._factory, "__qualname__", type(self._factory).__qualname__)
        return f"{self._factory.__module__}.{name} {code.co_names if code else ''}"

    def get(self) -> Answering:
        if self._made is None:
            self._made = self._factory()
        return self._made if isinstance(self._made, CommandSubject) else CheckedSubject(self._made)

    def close(self) -> None:
        close = getattr(self._made, "close", None)
        if close is not None:
            close()
        self._made = None


class ConformanceMachine(RuleBasedStateMachine):
    """A Hypothesis state machine. An example runs one schedule on the adapter, event by event."""

    setting: ClassVar[Setting]
    subject: ClassVar[_Subject]
    selection: ClassVar[Selection]
    known: ClassVar[tuple[Known, ...]]
    database_key: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""  # events
        self._answers: Answers = []
        self.nonconformity: ConformanceFinding | None = None  # the finding, once there is one
        self._judge = self.setting.judge()
        self._model = Execution(self.setting.protocol, self.setting.settings)  # for the statistics
        self._statistics = Statistics()
        self._way: bytes | None = None  # the events of the schedule that are still to be sent; None: not drawn yet
        self._subject = self.subject.get()
        self._has_ended = False  # whether a failure or a known difference has ended the example
        config = wire.config_of(self.setting.settings)
        self._verbs = self._answer(lambda: self._subject.reset(config, self.setting.protocol.name)) or []
        self._possible = self.setting.alphabet()
        self._alphabet = self._supported(simplest_first(self.setting.settings))
        if not self._alphabet and not self._has_ended:
            raise NonConformance("the system under test supports no event that this configuration makes possible")
        shown = None if self._has_ended else self._answer(self._subject.observe)
        if shown is not None:
            _check_names(shown)
            self._check(self._judge.begin(shown))

    def _schedule(self, seed: int) -> bytes:
        """Return the schedule for a seed, with only the events that LockStep would send. Seed 0 has no events."""
        if not seed:
            return b""
        model = LockStep(self.setting.protocol, self.setting.settings)
        return bytes(event for event in self._supported(self._drawn(seed)) if model.advance(event))

    def _drawn(self, seed: int) -> bytes:
        """Return the schedule for a seed, before `_schedule` leaves out events."""
        protocol, settings = self.setting.protocol, self.setting.settings
        if seed % 2:
            steps = hypothesis_settings().stateful_step_count
            return balanced(random.Random(seed), Execution(protocol, settings), self._alphabet, steps)
        if self.selection is Selection.RANDOM:
            return schedule(self.selection, protocol, settings, seed, 0)
        groups = 1 + hypothesis_settings().max_examples // _CHOSEN
        return schedule(self.selection, protocol, settings, seed // _CHOSEN % groups, seed // 2 % _CHOSEN)

    @rule(event=st.runner().flatmap(lambda machine: machine.next_event()))
    def step(self, event: str) -> None:
        """Send an event if the oracle wants it, and check the reply."""
        self._way = (self._way or b"")[1:]
        number = parse_event(event)
        if self._has_ended or not self._judge.advance(number):
            return
        self.sent += bytes([number])
        is_enabled = self._model.apply(number)
        self._statistics.note(self._model.state, verb_of(number) if is_enabled else None)
        answer = self._answer(lambda: (self._subject.apply(event), self._subject.observe()))
        if answer is not None:
            _check_names(answer[1])
            self._answers.append(answer)
            self._check(self._judge.judge(number, *answer))

    def next_event(self) -> st.SearchStrategy[str]:
        """Return a strategy for the next event: the schedule's next event, or any event after the end of the schedule.

        Before the first event of an example, the strategy draws the seed of the schedule.
        """
        return _SEEDS.flatmap(self._first_event) if self._way is None else self._following()

    def _first_event(self, seed: int) -> st.SearchStrategy[str]:
        self._way = self._schedule(seed)
        return self._following()

    def _following(self) -> st.SearchStrategy[str]:
        first, last = 0, len(self._alphabet) - 1
        if self._way:
            first = last = self._alphabet.index(self._way[0])
        return st.integers(first, last).map(lambda index: event_text(self._alphabet[index]))

    def _supported(self, events: bytes) -> bytes:
        return bytes(event for event in events if event in self._possible and VERBS[verb_of(event)] in self._verbs)

    def teardown(self) -> None:
        """If only guarantees are checked, stop all faults after an example without failures; check `convergence`."""
        self._statistics.end()
        if isinstance(self._judge, Promises) and not self._has_ended:
            healed = self._answer(lambda: heal(self._subject, self.setting, self._verbs))
            if healed is not None:
                self._check(self._judge.not_converged(healed))

    def _answer(self, ask: Callable[[], Any]) -> Any:
        """Send a request with `ask`, and return the reply, or None after a failure that a known difference accepts."""
        try:
            return ask()
        except SubjectFailed as failed:
            self._check([failed.fault])
        except SubjectUnable as unable:
            raise NonConformance(
                f"the system under test cannot run this protocol and configuration: {unable}"
            ) from None

    def _check(self, faults: Sequence[Discrepancy]) -> None:
        for fault in faults:
            if fault.kind is DiscrepancyKind.PROMISE and self._is_known(str(fault.field)):
                continue
            self._has_ended = True
            protocol, settings = self.setting.protocol, self.setting.settings
            why = accepted(self.known, fault, self.sent, protocol, settings)
            if why is not None:
                record(f"known difference: {why}")
                return
            sighting, trial = ConformanceFailure(fault, self.sent), Trial(self.sent, settings)
            self.nonconformity = ConformanceFinding(
                protocol=protocol,
                sighting=sighting,
                answers=self._answers,
                trial=trial,
                shrunk_from=len(self.sent),
                seen=1,
                known_flaw=None,
            )
            since = is_from_reset(fault, self.sent, protocol, settings)
            raise nonconformance(fault, self.sent, ", perhaps there since the reset" if since else "")

    def _is_known(self, name: str) -> bool:
        return reason(self.sent, self.setting.protocol, self.setting.settings, name) is not None
