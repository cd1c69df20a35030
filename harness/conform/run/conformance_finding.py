"""Findings of a conformance run: failures, each run again on a fresh adapter process and then shrunk."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from epochfuzz.harness.conform.oracle.known import reason
from epochfuzz.harness.conform.protocol.discrepancy import JUDGED, Discrepancy, DiscrepancyKind, SubjectUnable
from epochfuzz.harness.conform.protocol.process import CommandError
from epochfuzz.harness.conform.protocol.subject import Answering
from epochfuzz.harness.conform.run.attempts import MOST_SECONDS, Report, shrink
from epochfuzz.harness.conform.run.block import FailedTrial, Trial
from epochfuzz.harness.conform.run.drive import Answers, ConformanceFailure, Setting, drive
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.trace.causes import Causes, causes
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_SHRINKING_PATIENCE = 0.5  # seconds for a reply while a time-out is shrunk, so that several attempts are possible


@dataclass(frozen=True, kw_only=True)
class ConformanceFinding:
    """A discrepancy under a protocol, with the shortest known schedule that shows it (`sighting`).

    `answers` are the replies to the events of that schedule. `seen` counts the schedules that failed with the same
    signature. `trial` is one of these schedules before shrinking, with the configuration under which `sighting` fails.
    `shrunk_from` is the number of events before shrinking. `known_flaw` is the reason why the finding was expected, or
    None. `is_shrunk` is False if shrinking ran out of time.
    """

    protocol: Protocol
    sighting: ConformanceFailure
    answers: Answers
    trial: Trial
    shrunk_from: int
    seen: int
    known_flaw: str | None
    is_shrunk: bool = True

    @property
    def causes(self) -> Causes | None:
        """The choices of the protocol that explain a violation, or None if the finding is not a violation."""
        if self.fault.kind is not DiscrepancyKind.PROMISE or self.fault.field is None:
            return None
        return causes(self.sighting.sent, self.protocol, self.trial.settings, self.fault.field)

    @property
    def fault(self) -> Discrepancy:
        """The discrepancy that the schedule shows."""
        return self.sighting.fault

    def is_same_as(self, other: "ConformanceFinding") -> bool:
        """Return whether two findings have the same protocol, schedule and kind of discrepancy."""
        mine, theirs = self.sighting, other.sighting
        return (self.protocol, mine.sent, mine.fault.kind) == (other.protocol, theirs.sent, theirs.fault.kind)


def conformance_finding(
    plan: Plan,
    protocol: Protocol,
    failed: FailedTrial,
    seconds: float = MOST_SECONDS,
    report: Report = lambda doing: None,
) -> ConformanceFinding:
    """Repeat a failure on a fresh process, shrink it within `seconds`, and return the finding.

    If the failure does not repeat, the finding has the kind UNSTABLE. A known failure of a client is not shrunk. At the
    end of a schedule, the client learns the leader, so a shorter schedule can fail on the client although it breaks
    nothing in the model. The known failure would then look new. `report` is called with the progress of shrinking.
    """
    is_tour = failed.trial.tour is not None
    setting = Setting(protocol, failed.trial.settings, plan.judged_by, every_refusal=is_tour, is_client=plan.is_client)
    sighting, answers = _confirmed(plan, setting, failed.sighting)
    is_shrunk = True
    expected = failed.known_flaw(protocol)
    is_left_as_it_is = plan.is_client and expected is not None
    if sighting.fault.kind is not DiscrepancyKind.UNSTABLE and sighting.sent and not is_left_as_it_is:
        began = time.monotonic()
        plainer, unshrunk = _in_plain_configuration(plan, setting, sighting)
        shortest = _shrunk(plan, plainer, unshrunk, expected, seconds, report)
        shrunk, answers_to_shrunk = _confirmed(plan, plainer, shortest)
        is_shrunk = time.monotonic() - began < seconds
        if shrunk.fault.kind is not DiscrepancyKind.UNSTABLE:
            setting, sighting, answers = plainer, shrunk, answers_to_shrunk
    trial = failed.trial.under(setting.settings)
    flaw = FailedTrial(trial, sighting).known_flaw(protocol)
    return ConformanceFinding(
        protocol=protocol,
        sighting=sighting,
        answers=answers,
        trial=trial,
        shrunk_from=len(failed.sighting.sent),
        seen=failed.seen,
        known_flaw=flaw,
        is_shrunk=is_shrunk,
    )


def _in_plain_configuration(
    plan: Plan, setting: Setting, sighting: ConformanceFailure
) -> tuple[Setting, ConformanceFailure]:
    """Return the setting and the failure in the plan's own configuration, if the failure occurs there.

    A case may have another configuration than the plan. If the failure occurs only under the configuration of the case,
    the function returns `setting` and `sighting` unchanged.
    """
    replicas = max(setting.settings.replicas, plan.settings.replicas)
    plain = replace(setting, settings=replace(plan.settings, replicas=replicas))
    if plain == setting:
        return setting, sighting
    with plan.subject(_shrinking_patience(plan, sighting)) as subject:
        found = _alike(_sightings(subject, sighting.sent, plain), sighting)
    return (setting, sighting) if found is None else (plain, found)


def _confirmed(plan: Plan, setting: Setting, sighting: ConformanceFailure) -> tuple[ConformanceFailure, Answers]:
    """Run the events of a failure on a fresh process. Returns the failure, and the replies.

    If the failure does not repeat, the returned failure has the kind UNSTABLE.
    """
    if sighting.fault.kind is DiscrepancyKind.TIMEOUT and not sighting.sent:
        return sighting, []  # a fresh process failed to start within its time limit, so don't wait again
    try:
        with plan.subject(plan.patience) as subject:
            again = drive(subject, sighting.sent, setting)
    except (SubjectUnable, CommandError) as error:
        return _unstable(sighting, f"the system under test cannot run it: {error}"), []
    for each in again.sightings:
        if each.repeats(sighting):
            return each, again.answers
    second = again.sightings[0].fault.sentence if again.sightings else "nothing is wrong"
    return _unstable(sighting, second), again.answers


def _unstable(sighting: ConformanceFailure, second: str) -> ConformanceFailure:
    """Return the failure, changed to the kind UNSTABLE. `second` describes the outcome of the second run."""
    fault = sighting.fault
    if fault.kind is DiscrepancyKind.UNSTABLE:
        return sighting
    return replace(
        sighting, fault=replace(fault, kind=DiscrepancyKind.UNSTABLE, expected=fault.sentence, observed=second)
    )


def _shrunk(
    plan: Plan, setting: Setting, sighting: ConformanceFailure, flaw: str | None, seconds: float, report: Report
) -> ConformanceFailure:
    """Return the shortest failure found with the signature of `sighting`.

    `flaw` is the reason why the failure was expected. If `flaw` is None, the result is never a known difference.
    """
    healing = sighting.fault.field == "convergence"
    with plan.subject(_shrinking_patience(plan, sighting)) as subject:

        def attempt(schedule: bytes) -> ConformanceFailure | None:
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
            # An earlier schedule may have caused the death, even at the reset. The retry uses a fresh process.
            return _alike(_sightings(subject, schedule, setting, healing), sighting)

        return shrink(sighting, attempt, setting.alphabet(), setting.enabled, seconds, report)


def _sightings(subject: Answering, schedule: bytes, setting: Setting, healing: bool = True) -> list[ConformanceFailure]:
    """Run a schedule and return its failures.

    Returns an empty list if the adapter no longer supports the configuration or cannot start.
    """
    try:
        return drive(subject, schedule, setting, healing=healing).sightings
    except (SubjectUnable, CommandError):
        return []


def _shrinking_patience(plan: Plan, sighting: ConformanceFailure) -> float:
    return min(plan.patience, _SHRINKING_PATIENCE) if sighting.fault.kind is DiscrepancyKind.TIMEOUT else plan.patience


def _alike(sightings: Iterable[ConformanceFailure], wanted: ConformanceFailure) -> ConformanceFailure | None:
    """Return the first of `sightings` that has the signature of `wanted`, or None."""
    return next((each for each in sightings if each.fault.signature == wanted.fault.signature), None)
