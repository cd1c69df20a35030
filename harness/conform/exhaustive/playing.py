"""Play a test sequence on the adapter: send its events without waiting, and check the replies as they arrive."""

from contextlib import suppress

from epochfuzz.harness.conform.oracle.healing import heal
from epochfuzz.harness.conform.oracle.judge import Judge
from epochfuzz.harness.conform.oracle.promises import Promises
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.discrepancy import SubjectFailed
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.drive import Driven, Setting
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.vocabulary.events import event_text
from epochfuzz.model.kafka.vocabulary.refusals import REFUSALS


def within_bounds(schedule: bytes, setting: Setting) -> list[bool]:
    """Return a flag for each event of a schedule: False if only a bound of the run forbids the event at that point."""
    execution = Execution(setting.protocol, setting.settings)
    return [not REFUSALS[execution.attempt(event)].is_bound for event in schedule]


def play(subject: CommandSubject, schedule: bytes, setting: Setting) -> Driven:
    """Reset the adapter, send all events of a schedule, check the replies, and return the record of the run.

    In lockstep, the check ends at the first difference. If only the guarantees are checked, the function also stops all
    faults at the end, and checks `convergence`. Raises SubjectUnable if the adapter does not support the protocol or
    the configuration.
    """
    judge = setting.judge()
    driven = Driven()
    try:
        verbs = subject.reset(wire.config_of(setting.settings), setting.protocol.name)
        _judge_each(subject, schedule, judge, driven)
        if isinstance(judge, Promises):
            driven.fail(*judge.not_converged(heal(subject, setting, verbs)))
        subject.finish()
    except SubjectFailed as failed:
        driven.fail(failed.fault)
    driven.end(judge)
    return driven


def _judge_each(subject: CommandSubject, schedule: bytes, judge: Judge, driven: Driven) -> None:
    answers = subject.apply_each([event_text(event) for event in schedule])
    for event in schedule:
        judge.advance(event)
        driven.sent.append(event)
        if not driven.note(judge, event, next(answers), subject.observe()):
            break
    with suppress(SubjectFailed):  # after a difference, the model does not predict the replies
        for _ in answers:
            pass
