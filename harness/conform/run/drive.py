"""Driving: one schedule, sent to a subject event by event, and what came of it."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from epochfuzz.harness.conform.oracle.fault import Fault, Kind, SubjectFailed, SubjectUnable
from epochfuzz.harness.conform.oracle.healing import heal
from epochfuzz.harness.conform.oracle.judge import FIELDS, Judge, JudgedBy, fields_of
from epochfuzz.harness.conform.oracle.lockstep import LockStep
from epochfuzz.harness.conform.oracle.promises import Promises
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.subject import Answering
from epochfuzz.harness.conform.protocol.wire import Observation
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, event_text, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

MOST_NAMES = 1_000

Answers = list[tuple[bool, Observation]]  # to each event: whether it was applied, and what was seen after it


@dataclass(frozen=True)
class Sighting:
    """A fault, and the events that were sent up to it."""

    fault: Fault
    sent: bytes

    def repeats(self, other: "Sighting") -> bool:
        """Whether it is the same again; what else the subject printed may differ, and how long it had."""
        mine, theirs = self.fault, other.fault
        alike = mine.kind is Kind.TIMEOUT or mine.sentence == theirs.sentence
        return (self.sent, mine.kind) == (other.sent, theirs.kind) and alike


@dataclass
class Shown:
    """What a run has shown of its subject: steps, events applied by verb, and how often each field was seen.

    `met` counts what it was driven through, see oracle/met.py: nothing where it is judged by promises alone, for then
    no model runs along. None in a campaign of an epochfuzz that noted none of it.

    A subject can name a new field in every answer: beside those of the protocol, the first MOST_NAMES are remembered.
    """

    steps: int = 0
    applied: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    met: Counter[str] | None = field(default_factory=Counter)

    def add(self, other: "Shown") -> None:
        """Add what another run has shown."""
        self.steps += other.steps
        self.applied += other.applied
        for name, count in other.fields.items():
            if name in self.fields or name in FIELDS or len(self.fields) < MOST_NAMES:
                self.fields[name] += count
        self.met = None if self.met is None or other.met is None else self.met + other.met


@dataclass
class Driven:
    """One schedule as it went: the events sent, the answers to them, what failed, and what it all showed."""

    sent: bytearray = field(default_factory=bytearray)
    answers: Answers = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)
    shown: Shown = field(default_factory=Shown)

    def note(self, event: int, applied: bool, observation: Observation) -> None:
        """Note the answer to an event."""
        self.answers.append((applied, observation))
        self.shown.steps += 1
        self.shown.applied[verb_of(event).text] += applied
        self.shown.fields.update(set(fields_of(observation)))

    def end(self, judge: Judge) -> None:
        """Note what the schedule met."""
        if isinstance(judge, LockStep):
            self.shown.met = judge.meeting.counts

    def fail(self, fault: Fault) -> None:
        """Note a fault after the events sent so far."""
        self.sightings.append(Sighting(fault, bytes(self.sent)))


@dataclass(frozen=True)
class Setting:
    """What a schedule is run under, and how it is judged. `every_refusal`: as tours are, see LockStep."""

    protocol: Protocol
    settings: Configuration
    judged_by: JudgedBy
    every_refusal: bool = False

    def judge(self) -> Judge:
        """Return a judge for one schedule."""
        if self.judged_by is JudgedBy.LOCKSTEP:
            return LockStep(self.protocol, self.settings, every_refusal=self.every_refusal)
        return Promises(self.protocol, self.settings)

    def alphabet(self) -> bytes:
        """Return the events that can be enabled, in byte order."""
        return Execution(self.protocol, self.settings).alphabet()

    def enabled(self, schedule: bytes) -> bytes:
        """Return the events of a schedule that the model applies, and the last one, which may be there
        to be refused.
        """
        execution = Execution(self.protocol, self.settings)
        return bytes(event for event in schedule[:-1] if execution.apply(event)) + schedule[-1:]


def drive(subject: Answering, schedule: Iterable[int], setting: Setting, *, healing: bool = True) -> Driven:
    """Run a schedule on a subject, from a reset on.

    Left out are events that the subject does not support, and those that protocol and configuration cannot enable.

    Without `healing`, `convergence` is not judged. Raises SubjectUnable, if it does not have the protocol or the
    configuration.
    """
    judge = setting.judge()
    driven = Driven()
    try:
        verbs = subject.reset(wire.config_of(setting.settings), setting.protocol.name)
        _check_waiting(setting.settings, verbs)
        possible = set(setting.alphabet())
        for event in schedule:
            if event not in possible or verb_of(event).text not in verbs or not judge.advance(event):
                continue
            driven.sent.append(event)
            applied, observation = _send(subject, event, driven)
            faults = judge.judge(event, applied, observation)
            for fault in faults:
                driven.fail(fault)
            if faults and not judge.goes_on:
                break
        if healing and isinstance(judge, Promises) and driven.sent:
            for fault in judge.not_converged(heal(subject, setting, verbs)):
                driven.fail(fault)
        subject.finish()
    except SubjectFailed as failed:
        driven.fail(failed.fault)
    driven.end(judge)
    return driven


def _check_waiting(settings: Configuration, verbs: Collection[str]) -> None:
    """Raise SubjectUnable if a setting changes what fetches do, and the subject has not the event of that setting."""
    for verb in (Verb.LAPSE, Verb.EXPIRE_FETCH):
        if verb.setting is not None and getattr(settings, verb.setting) and verb.text not in verbs:
            raise SubjectUnable(f"it has no event {verb.text}, without which {verb.setting} cannot be played")


def _send(subject: Answering, event: int, driven: Driven) -> tuple[bool, Observation]:
    applied = subject.apply(event_text(event))
    driven.note(event, applied, subject.observe())
    return driven.answers[-1]
