"""Run one schedule on an adapter, event by event, and record the replies and the failures."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from epochfuzz.harness.conform.oracle.client_guarantees import ClientGuarantees
from epochfuzz.harness.conform.oracle.healing import heal
from epochfuzz.harness.conform.oracle.judge import FIELDS, Judge, JudgedBy, fields_of
from epochfuzz.harness.conform.oracle.lockstep import LockStep
from epochfuzz.harness.conform.oracle.promises import Promises
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind, SubjectFailed, SubjectUnable
from epochfuzz.harness.conform.protocol.subject import Answering
from epochfuzz.harness.conform.protocol.wire import Observation
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, event_text, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

MOST_NAMES = 1_000

Answers = list[tuple[bool, Observation]]  # the reply to each event: whether it was applied, and the observation


@dataclass(frozen=True)
class ConformanceFailure:
    """A discrepancy (`fault`), and the events sent up to it (`sent`)."""

    fault: Discrepancy
    sent: bytes

    def repeats(self, other: "ConformanceFailure") -> bool:
        """Return whether this failure repeats another: equal events, kind and sentence.

        The adapter's output may differ, and the sentences of time-outs may differ, too.
        """
        mine, theirs = self.fault, other.fault
        alike = mine.kind is DiscrepancyKind.TIMEOUT or mine.sentence == theirs.sentence
        return (self.sent, mine.kind) == (other.sent, theirs.kind) and alike


@dataclass
class Exercise:
    """Counts of a run: sent events (`steps`), applied events by verb (`applied`), and observations by field (`fields`).

    `met` counts the coverage points reached (oracle/met.py). `met` is empty if only the guarantees are checked, because
    no model runs then. `met` is None in the results of a campaign of an older epochfuzz. An adapter can invent names of
    fields, so `add` adds no unknown names to `fields` once `fields` has MOST_NAMES names.
    """

    steps: int = 0
    applied: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    met: Counter[str] | None = field(default_factory=Counter)

    def add(self, other: "Exercise") -> None:
        """Add the counts of another run."""
        self.steps += other.steps
        self.applied += other.applied
        for name, count in other.fields.items():
            if name in self.fields or name in FIELDS or len(self.fields) < MOST_NAMES:
                self.fields[name] += count
        self.met = None if self.met is None or other.met is None else self.met + other.met


@dataclass
class Driven:
    """The record of one schedule: the events sent, the replies (`answers`), the failures (`sightings`), and counts."""

    sent: bytearray = field(default_factory=bytearray)
    answers: Answers = field(default_factory=list)
    sightings: list[ConformanceFailure] = field(default_factory=list)
    shown: Exercise = field(default_factory=Exercise)

    def note(self, judge: Judge, event: int, applied: bool, observation: Observation) -> bool:
        """Record the reply to an event, and the discrepancies that the oracle finds in the reply.

        Returns whether the oracle can check more replies.
        """
        self.answers.append((applied, observation))
        self.shown.steps += 1
        self.shown.applied[verb_of(event).text] += applied
        self.shown.fields.update(set(fields_of(observation)))
        faults = judge.judge(event, applied, observation)
        self.fail(*faults)
        return judge.goes_on or not faults

    def end(self, judge: Judge) -> None:
        """Record the coverage points that the oracle counted during the schedule."""
        if isinstance(judge, LockStep):
            self.shown.met = judge.meeting.counts

    def fail(self, *faults: Discrepancy) -> None:
        """Record the discrepancies that were found after the last event in `sent`."""
        self.sightings += [ConformanceFailure(fault, bytes(self.sent)) for fault in faults]


@dataclass(frozen=True)
class Setting:
    """The protocol, the configuration and the oracle for running schedules.

    With `every_refusal`, the lockstep oracle sends all events that are not enabled, and not only one in each state.
    With `is_client`, the system under test is a client, and the model plays its brokers.
    """

    protocol: Protocol
    settings: Configuration
    judged_by: JudgedBy
    every_refusal: bool = False
    is_client: bool = False

    def judge(self) -> Judge:
        """Return a new oracle for one schedule."""
        if self.judged_by is JudgedBy.LOCKSTEP:
            return LockStep(self.protocol, self.settings, every_refusal=self.every_refusal)
        guarantees = ClientGuarantees if self.is_client else Promises
        return guarantees(self.protocol, self.settings)

    def alphabet(self) -> bytes:
        """Return the events that can be enabled, in byte order."""
        return Execution(self.protocol, self.settings).alphabet()

    def enabled(self, schedule: bytes) -> bytes:
        """Return the events of a schedule that are enabled in the model, and always the last event of the schedule.

        The failure may be that the system under test applies the last event although that event is not enabled.
        """
        execution = Execution(self.protocol, self.settings)
        return bytes(event for event in schedule[:-1] if execution.apply(event)) + schedule[-1:]


def drive(subject: Answering, schedule: Iterable[int], setting: Setting, *, healing: bool = True) -> Driven:
    """Reset an adapter, run a schedule on it, and return the record of the run.

    The function skips events that the adapter does not support, or that the protocol and the configuration never
    enable. If `healing` is False, the function also skips the check of `convergence` at the end. Raises SubjectUnable
    if the adapter does not support the protocol or the configuration.
    """
    judge = setting.judge()
    driven = Driven()
    try:
        verbs = subject.reset(wire.config_of(setting.settings), setting.protocol.name)
        _check_waiting(setting.settings, verbs)
        possible = set(setting.alphabet())
        driven.fail(*judge.begin(subject.observe()))
        for event in schedule if judge.goes_on or not driven.sightings else ():
            if event not in possible or verb_of(event).text not in verbs or not judge.advance(event):
                continue
            driven.sent.append(event)
            if not driven.note(judge, event, subject.apply(event_text(event)), subject.observe()):
                break
        if healing and isinstance(judge, Promises) and driven.sent:
            driven.fail(*judge.not_converged(heal(subject, setting, verbs)))
        subject.finish()
    except SubjectFailed as failed:
        driven.fail(failed.fault)
    driven.end(judge)
    return driven


def _check_waiting(settings: Configuration, verbs: Collection[str]) -> None:
    """Raise SubjectUnable if the adapter does not support an event that one of the settings needs."""
    for verb in (Verb.LAPSE, Verb.EXPIRE_FETCH):
        if verb.setting is not None and getattr(settings, verb.setting) and verb.text not in verbs:
            raise SubjectUnable(f"it does not support {verb.text}, which {verb.setting} needs")
