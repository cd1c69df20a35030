"""A nonconformity: a fault that a fresh process of the subject shows again, on as short a schedule as can be found."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from epochfuzz.harness.conform.oracle.fault import JUDGED, Fault, Kind, SubjectUnable
from epochfuzz.harness.conform.oracle.known import reason
from epochfuzz.harness.conform.protocol.process import CommandError
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.attempts import MOST_SECONDS, shrink
from epochfuzz.harness.conform.run.block import Failed, Trial
from epochfuzz.harness.conform.run.drive import Answers, Setting, Sighting, drive
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.witness.causes import Causes, causes
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_SHRINKING_PATIENCE = 0.5  # where a failure is a time-out, so that there is time for some attempts


@dataclass(frozen=True)
class Nonconformity:
    """What is wrong with a subject under a protocol, with the shortest schedule known to show it.

    `answers` are those to the events of that schedule. `seen` counts the schedules that showed the like, `trial` is the
    one that was shrunk, from `shrunk_from` events, in the configuration that it still needs. `known_flaw` says why it
    was to be expected, None where it was not.
    """

    protocol: Protocol
    sighting: Sighting
    answers: Answers
    trial: Trial
    shrunk_from: int
    seen: int
    known_flaw: str | None

    @property
    def causes(self) -> Causes | None:
        """Why the protocol breaks the promise too, None for what is no promise."""
        if self.fault.kind is not Kind.PROMISE or self.fault.field is None:
            return None
        return causes(self.sighting.sent, self.protocol, self.trial.settings, self.fault.field)

    @property
    def fault(self) -> Fault:
        """What is wrong."""
        return self.sighting.fault

    def is_same_as(self, other: "Nonconformity") -> bool:
        """Whether the same schedule shows the same kind of fault."""
        mine, theirs = self.sighting, other.sighting
        return (self.protocol, mine.sent, mine.fault.kind) == (other.protocol, theirs.sent, theirs.fault.kind)


def nonconformity(
    plan: Plan, protocol: Protocol, failed: Failed, seen: int, seconds: float = MOST_SECONDS
) -> Nonconformity:
    """Confirm a sighting, and shrink it for so many seconds.

    One that does not come again is one as well: the subject is unstable.
    """
    is_tour = failed.trial.tour is not None
    setting = Setting(protocol, failed.trial.settings, plan.judged_by, every_refusal=is_tour)
    sighting, answers = _confirmed(plan, setting, failed.sighting)
    if sighting.fault.kind is not Kind.UNSTABLE and sighting.sent:
        plainer, unshrunk = _in_plain_configuration(plan, setting, sighting)
        shrunk, answers_to_shrunk = _confirmed(
            plan, plainer, _shrunk(plan, plainer, unshrunk, failed.known_flaw(protocol), seconds)
        )
        if shrunk.fault.kind is not Kind.UNSTABLE:
            setting, sighting, answers = plainer, shrunk, answers_to_shrunk
    trial = failed.trial.under(setting.settings)
    flaw = Failed(trial, sighting).known_flaw(protocol)
    return Nonconformity(protocol, sighting, answers, trial, len(failed.sighting.sent), seen, flaw)


def _in_plain_configuration(plan: Plan, setting: Setting, sighting: Sighting) -> tuple[Setting, Sighting]:
    """Return the same in the configuration of the run, if the sighting came from a case that has
    another and needs it not.
    """
    replicas = max(setting.settings.replicas, plan.settings.replicas)
    plain = replace(setting, settings=replace(plan.settings, replicas=replicas))
    if plain == setting:
        return setting, sighting
    with CommandSubject(plan.command, _shrinking_patience(plan, sighting)) as subject:
        found = _alike(_sightings(subject, sighting.sent, plain), sighting)
    return (setting, sighting) if found is None else (plain, found)


def _confirmed(plan: Plan, setting: Setting, sighting: Sighting) -> tuple[Sighting, Answers]:
    """Return the sighting if a fresh process shows it again after the same events, else that it does
    not; and the answers.
    """
    if sighting.fault.kind is Kind.TIMEOUT and not sighting.sent:
        return sighting, []  # it was a fresh process that did not start, and has been waited for long enough
    try:
        with CommandSubject(plan.command, plan.patience) as subject:
            again = drive(subject, sighting.sent, setting)
    except (SubjectUnable, CommandError) as error:
        return _unstable(sighting, f"the subject is unable to run it: {error}"), []
    for each in again.sightings:
        if each.repeats(sighting):
            return each, again.answers
    second = again.sightings[0].fault.sentence if again.sightings else "nothing is wrong"
    return _unstable(sighting, second), again.answers


def _unstable(sighting: Sighting, second: str) -> Sighting:
    """Return a sighting that was something else the second time; if it is one of instability, that is
    what it says already.
    """
    fault = sighting.fault
    if fault.kind is Kind.UNSTABLE:
        return sighting
    return replace(sighting, fault=replace(fault, kind=Kind.UNSTABLE, expected=fault.sentence, observed=second))


def _shrunk(plan: Plan, setting: Setting, sighting: Sighting, flaw: str | None, seconds: float) -> Sighting:
    """As short a schedule as can be found that shows the like; what is news is not shrunk to what is known."""
    healing = sighting.fault.field == "convergence"
    with CommandSubject(plan.command, _shrinking_patience(plan, sighting)) as subject:

        def attempt(schedule: bytes) -> Sighting | None:
            has_a_past = subject.is_running
            found = _alike(_sightings(subject, schedule, setting, healing), sighting)
            if (
                found is not None
                and flaw is None
                and reason(plan.known, found.fault, found.sent, setting.protocol, setting.settings)
            ):
                return None
            if found is None or found.fault.kind in JUDGED or not has_a_past:
                return found
            # It may have died of what came before, even at the reset. It has been ended: the next is a fresh process.
            return _alike(_sightings(subject, schedule, setting, healing), sighting)

        return shrink(sighting, attempt, setting.alphabet(), setting.enabled, seconds)


def _sightings(subject: CommandSubject, schedule: bytes, setting: Setting, healing: bool = True) -> list[Sighting]:
    """Return what fails on a schedule; nothing, where the subject, which has been able to, is no
    longer able to run it.
    """
    try:
        return drive(subject, schedule, setting, healing=healing).sightings
    except (SubjectUnable, CommandError):
        return []


def _shrinking_patience(plan: Plan, sighting: Sighting) -> float:
    return min(plan.patience, _SHRINKING_PATIENCE) if sighting.fault.kind is Kind.TIMEOUT else plan.patience


def _alike(sightings: Iterable[Sighting], wanted: Sighting) -> Sighting | None:
    """Return the first sighting that has the signature of the one wanted."""
    return next((each for each in sightings if each.fault.signature == wanted.fault.signature), None)
