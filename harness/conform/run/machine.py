"""Conformance in pytest: a Hypothesis state machine whose steps are events, run on a subject and judged.

An example follows a schedule as `epochfuzz conform` draws them, for events that Hypothesis would draw seldom lead
anywhere. It is made of the same choices as one that goes wherever it likes (see strategies/event_machine.py), so that
shrinking can forget the schedule first and then take any event out, or put another in its place.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar
from unittest import TestCase

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from epochfuzz.harness.conform.oracle.fault import Fault, Kind, SubjectFailed, SubjectUnable
from epochfuzz.harness.conform.oracle.healing import heal
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.oracle.lockstep import LockStep
from epochfuzz.harness.conform.oracle.promises import Promises
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.subject import Answering, CheckedSubject, CommandSubject, Subject
from epochfuzz.harness.conform.run.block import Trial
from epochfuzz.harness.conform.run.drive import Answers, Setting, Sighting
from epochfuzz.harness.conform.run.nonconformity import Nonconformity
from epochfuzz.harness.conform.run.selection import Selection, schedule
from epochfuzz.harness.witness.causes import reason
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS, event_text, parse_event, schedule_texts, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, parse_protocol
from epochfuzz.strategies.profiles import PHASES
from epochfuzz.strategies.project import project
from epochfuzz.strategies.schedules import simplest_first

Factory = Callable[[], Subject]


class NonConformance(AssertionError):
    """The subject does not conform. There is a class for each kind of fault, so that Hypothesis keeps them apart."""


_CHOSEN = 256  # schedules of a seed that an example may be: those before it have to be chosen first
_STEPS = 100  # of which a schedule seldom takes more

_CLASSES = {kind: type(f"{kind.title()}", (NonConformance,), {"__doc__": "See NonConformance."}) for kind in Kind}


def conformance_test(
    factory: Factory,
    *,
    protocol: str | None = None,
    judge: str = "lock-step",
    selection: str = "random",
    **config: Any,
) -> type[TestCase]:
    """Return a test case that runs schedules on the subject that `factory` makes; it is made once, and reset for each.

    `config` are settings of a partition, as in `replicas=3`. Settings that are left out, and the protocol, are those of
    the project (strategies/project.py), or the usual ones and `kip-320`. With the selection `coverage`, schedules are
    chosen in the model for what they meet, which takes it a few seconds. Raises ProtocolError, ConfigurationError and
    ValueError.

        TestMyLog = conformance_test(MyLog, protocol="kip-320", replicas=3)
    """
    here = project()
    chosen = next(iter(here.protocols), GENERATIONS["kip-320"]) if protocol is None else parse_protocol(protocol)
    setting = Setting(chosen, Configuration(**{**here.config, **config}), JudgedBy(judge))
    subject = _Subject(factory)
    machine = type(
        "Conformance",
        (ConformanceMachine,),
        {"setting": setting, "subject": subject, "selection": Selection(selection)},
    )

    class ConformanceTest(machine.TestCase):  # type: ignore[misc, name-defined]
        """Runs the state machine."""

        settings = hypothesis_settings(deadline=None, phases=PHASES, stateful_step_count=_STEPS)

        @classmethod
        def tearDownClass(cls) -> None:
            """Let the subject end."""
            subject.close()

    return ConformanceTest


class _Subject:
    """The subject of a test case, made when the first example needs it."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory
        self._made: Subject | None = None

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
    """One example: a schedule, event by event."""

    setting: ClassVar[Setting]
    subject: ClassVar[_Subject]
    selection: ClassVar[Selection]

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""  # events
        self._answers: Answers = []
        self.nonconformity: Nonconformity | None = None  # the fault, once there is one
        self._judge = self.setting.judge()
        self._way = b""
        self._subject = self.subject.get()
        self._failed = False
        config = wire.config_of(self.setting.settings)
        self._verbs = self._answer(lambda: self._subject.reset(config, self.setting.protocol.name))
        self._possible = self.setting.alphabet()
        self._alphabet = self._supported(simplest_first(self.setting.settings))
        if not self._alphabet:
            raise NonConformance("the subject supports no event that this configuration makes possible")

    @initialize(seed=st.integers(0, 2**32 - 1))
    def schedule(self, seed: int) -> None:
        """Choose the way to go: a schedule, or for seed 0, the simplest, wherever chance leads."""
        if seed:
            drawn = self._drawn(seed)
            model = LockStep(self.setting.protocol, self.setting.settings)
            self._way = bytes(event for event in self._supported(drawn) if model.advance(event))

    def _drawn(self, seed: int) -> bytes:
        """Return the schedule of a seed: what chance has to say, of what was chosen, is which one."""
        protocol, settings = self.setting.protocol, self.setting.settings
        if self.selection is Selection.RANDOM:
            return schedule(self.selection, protocol, settings, seed, 0)
        groups = 1 + hypothesis_settings().max_examples // _CHOSEN
        return schedule(self.selection, protocol, settings, seed // _CHOSEN % groups, seed % _CHOSEN)

    @rule(event=st.runner().flatmap(lambda machine: machine.next_event()))
    def step(self, event: str) -> None:
        """Send an event, if it is worth it, and judge what comes of it."""
        self._way = self._way[1:]
        number = parse_event(event)
        if not self._judge.advance(number):
            return
        self.sent += bytes([number])
        applied, seen = self._answer(lambda: (self._subject.apply(event), self._subject.observe()))
        self._answers.append((applied, seen))
        self._check(self._judge.judge(number, applied, seen))

    def next_event(self) -> st.SearchStrategy[str]:
        """Return the next event on the way, or any; either as an index into the alphabet."""
        first, last = 0, len(self._alphabet) - 1
        if self._way:
            first = last = self._alphabet.index(self._way[0])
        return st.integers(first, last).map(lambda index: event_text(self._alphabet[index]))

    def _supported(self, events: bytes) -> bytes:
        return bytes(event for event in events if event in self._possible and VERBS[verb_of(event)] in self._verbs)

    def teardown(self) -> None:
        """At the end of a schedule that kept its guarantees, faults stop, and the logs have to agree."""
        if isinstance(self._judge, Promises) and not self._failed:
            healed = self._answer(lambda: heal(self._subject, self.setting, self._verbs))
            self._check(self._judge.not_converged(healed))

    def _answer(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except SubjectFailed as failed:
            self._check([failed.fault])
        except SubjectUnable as unable:
            raise NonConformance(f"the subject is unable to run this protocol and configuration: {unable}") from None

    def _check(self, faults: Sequence[Fault]) -> None:
        for fault in faults:
            if fault.kind is Kind.PROMISE and self._is_known(str(fault.field)):
                continue
            self._failed = True
            protocol, settings = self.setting.protocol, self.setting.settings
            sighting, trial = Sighting(fault, self.sent), Trial(self.sent, settings)
            self.nonconformity = Nonconformity(
                protocol, sighting, self._answers, trial, shrunk_from=len(self.sent), seen=1, known_flaw=None
            )
            lines = [f"{fault.kind}: {fault.sentence}", f"after {', '.join(schedule_texts(self.sent)) or 'the reset'}"]
            raise _CLASSES[fault.kind]("\n".join([*lines, *filter(None, [fault.output])]))

    def _is_known(self, name: str) -> bool:
        return reason(self.sent, self.setting.protocol, self.setting.settings, name) is not None
