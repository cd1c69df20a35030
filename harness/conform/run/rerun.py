"""Replay a case on an adapter and in the model, and compare the properties that break."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.conform.oracle.healing import Healed, heal
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.oracle.lockstep import LockStep
from epochfuzz.harness.conform.oracle.promises import Promises
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.discrepancy import JUDGED, Discrepancy, SubjectFailed, SubjectUnable
from epochfuzz.harness.conform.protocol.subject import Answering
from epochfuzz.harness.conform.run.drive import Setting
from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.model.kafka.contract.properties import BY_NAME
from epochfuzz.model.kafka.vocabulary.events import VERBS, event_text, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


@dataclass(frozen=True)
class Rerun:
    """The results of a case on an adapter and in the model.

    `model` is the run in the model. Its broken properties leave out each property that observations cannot show, unless
    the adapter broke this property too.

    `first_broken` maps each property that the system under test broke to the number of the event that broke the
    property. `differs` is the first discrepancy, with the number of the event before it, or None if there is none.
    """

    case: Case
    model: Run
    first_broken: dict[str, int]
    differs: tuple[int, Discrepancy] | None

    @property
    def subject(self) -> Run:
        """The result on the system under test, as a run with the model's steps."""
        return replace(self.model, first_broken=self.first_broken)

    @property
    def agrees(self) -> bool:
        """True if the system under test and the model break the same properties after the same event.

        False if the adapter gave an invalid reply or none.
        """
        if self.differs is not None and self.differs[1].kind not in JUDGED:
            return False
        return (self.subject.broken, self.subject.at) == (self.model.broken, self.model.at)


def rerun(subject: Answering, case: Case, protocol: Protocol) -> Rerun:
    """Replay a case on an adapter, and in the model under a protocol.

    Raises SubjectUnable if the adapter lacks the protocol, the configuration or an event. Raises CommandError.
    """
    model = replay(case.events, protocol, case.settings)
    setting = Setting(protocol, case.settings, JudgedBy.PROMISES)
    judge = _Both(setting)
    try:
        verbs = subject.reset(wire.config_of(case.settings), protocol.name)
        _refuse_lacking(case, verbs)
        judge.begin(subject.observe())
        for number, event in enumerate(case.events, start=1):
            judge.send(subject, number, event)
        if case.events:
            judge.end(len(case.events), heal(subject, setting, verbs))
        subject.finish()
    except SubjectFailed as failed:
        judge.note(failed.fault)
    return Rerun(case, _as_seen(model, judge.first_broken), judge.first_broken, judge.differs)


def _as_seen(run: Run, found: Collection[str]) -> Run:
    """Return a run without the broken properties that no observation can show. Keeps all properties in `found`."""
    seen = {name: at for name, at in run.first_broken.items() if BY_NAME[name].seen_in or name in found}
    return replace(run, first_broken=seen)


def _refuse_lacking(case: Case, verbs: list[str]) -> None:
    lacking = sorted({VERBS[verb_of(event)] for event in case.events} - set(verbs))
    if lacking:
        raise SubjectUnable(f"it has no {', '.join(lacking)}")


class _Both:
    """Runs two oracles on a case: Promises to the end of the case, and LockStep up to the first difference."""

    def __init__(self, setting: Setting) -> None:
        self.first_broken: dict[str, int] = {}
        self.differs: tuple[int, Discrepancy] | None = None
        self._model = LockStep(setting.protocol, setting.settings)
        self._promises = Promises(setting.protocol, setting.settings)
        self._number = 0

    def begin(self, observation: wire.Observation) -> None:
        for fault in self._model.begin(observation):
            self.note(fault)
        self._break(self._promises.begin(observation))

    def send(self, subject: Answering, number: int, event: int) -> None:
        self._number = number
        if self.differs is None:
            self._model.advance(event)
        if not self._promises.advance(event):
            return
        applied = subject.apply(event_text(event))
        observation = subject.observe()
        if self.differs is None:
            for fault in self._model.judge(event, applied, observation):
                self.note(fault)
        self._break(self._promises.judge(event, applied, observation))

    def end(self, number: int, healed: Healed) -> None:
        self._number = number
        self._break(self._promises.not_converged(healed))

    def note(self, fault: Discrepancy) -> None:
        self.differs = self.differs or (self._number, fault)

    def _break(self, faults: list[Discrepancy]) -> None:
        for fault in faults:
            self.first_broken.setdefault(str(fault.field), self._number)
