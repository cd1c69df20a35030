"""A finding: a failure that a fresh process of the subject shows again, on as short a schedule as can be found."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from epochfuzz.harness.conform.block import Failed, Trial
from epochfuzz.harness.conform.drive import Answers, Failure, Setting, drive
from epochfuzz.harness.conform.fault import Fault, Kind, SubjectUnable
from epochfuzz.harness.conform.plan import Plan
from epochfuzz.harness.conform.shrink import shrink
from epochfuzz.harness.conform.subject import CommandSubject
from epochfuzz.model.protocols import Protocol

_SHRINKING_PATIENCE = 0.5  # where a failure is a time-out, so that there is time for some attempts


@dataclass(frozen=True)
class Finding:
    """What is wrong with a subject under a protocol, with the shortest schedule known to show it.

    `answers` are those to the events of that schedule. `seen` counts the schedules that showed the like, `trial` is the
    one that was shrunk, from `shrunk_from` events, in the configuration that it still needs. `known_flaw` says why it
    is not news, None where it is.
    """

    protocol: Protocol
    failure: Failure
    answers: Answers
    trial: Trial
    shrunk_from: int
    seen: int
    known_flaw: str | None

    @property
    def fault(self) -> Fault:
        """What is wrong."""
        return self.failure.fault

    def is_same_as(self, other: "Finding") -> bool:
        """Whether the same schedule shows the same kind of fault."""
        mine, theirs = self.failure, other.failure
        return (self.protocol, mine.sent, mine.fault.kind) == (other.protocol, theirs.sent, theirs.fault.kind)


def finding(plan: Plan, protocol: Protocol, failed: Failed, seen: int) -> Finding:
    """Confirm and shrink a failure. One that does not come again is a finding as well: the subject is unstable."""
    setting = Setting(protocol, failed.trial.settings, plan.judgement)
    failure, answers = _confirmed(plan, setting, failed.failure)
    if failure.fault.kind is not Kind.UNSTABLE and failure.sent:
        plainer, unshrunk = _in_plain_configuration(plan, setting, failure)
        shrunk, answers_to_shrunk = _confirmed(plan, plainer, _shrunk(plan, plainer, unshrunk))
        if shrunk.fault.kind is not Kind.UNSTABLE:
            setting, failure, answers = plainer, shrunk, answers_to_shrunk
    trial = failed.trial.under(setting.settings)
    flaw = Failed(trial, failure).known_flaw(protocol)
    return Finding(protocol, failure, answers, trial, len(failed.failure.sent), seen, flaw)


def _in_plain_configuration(plan: Plan, setting: Setting, failure: Failure) -> tuple[Setting, Failure]:
    """The same in the configuration of the run, if the failure came from a case that has another and needs it not."""
    replicas = max(setting.settings.replicas, plan.settings.replicas)
    plain = replace(setting, settings=replace(plan.settings, replicas=replicas))
    if plain == setting:
        return setting, failure
    with CommandSubject(plan.command, _shrinking_patience(plan, failure)) as subject:
        try:
            found = _alike(drive(subject, failure.sent, plain).failures, failure)
        except SubjectUnable:
            found = None
    return (setting, failure) if found is None else (plain, found)


def _confirmed(plan: Plan, setting: Setting, failure: Failure) -> tuple[Failure, Answers]:
    """The failure if a fresh process shows it again after the same events, else that it does not; and the answers."""
    if failure.fault.kind is Kind.TIMEOUT and not failure.sent:
        return failure, []  # it was a fresh process that did not start, and has been waited for long enough
    with CommandSubject(plan.command, plan.patience) as subject:
        again = drive(subject, failure.sent, setting)
    fault = failure.fault
    if fault.kind is Kind.UNSTABLE:
        return failure, again.answers
    for each in again.failures:
        if each.repeats(failure):
            return each, again.answers
    second = again.failures[0].fault.sentence if again.failures else "nothing is wrong"
    unstable = replace(fault, kind=Kind.UNSTABLE, expected=fault.sentence, observed=second)
    return replace(failure, fault=unstable), again.answers


def _shrunk(plan: Plan, setting: Setting, failure: Failure) -> Failure:
    healing = failure.fault.field == "convergence"
    with CommandSubject(plan.command, _shrinking_patience(plan, failure)) as subject:

        def attempt(schedule: bytes) -> Failure | None:
            return _alike(drive(subject, schedule, setting, healing=healing).failures, failure)

        return shrink(failure, attempt, setting.settings.alphabet(), setting.enabled)


def _shrinking_patience(plan: Plan, failure: Failure) -> float:
    return min(plan.patience, _SHRINKING_PATIENCE) if failure.fault.kind is Kind.TIMEOUT else plan.patience


def _alike(failures: Iterable[Failure], wanted: Failure) -> Failure | None:
    """The first failure that has the signature of the one wanted."""
    return next((each for each in failures if each.fault.signature == wanted.fault.signature), None)
