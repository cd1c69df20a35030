"""Registration and fencing: how the controller takes a broker that returns, leaves, or is silent.

Since KIP-380 (2.2) a broker that returns is taken for failed first: KafkaController.BrokerChange handles a bounced one
as one that failed and then started, and a KRaft controller fences it as it registers. In KRaft a broker stays fenced
until its heartbeats are heard, and cannot lead or join the ISR before.
"""

from epochfuzz.model.kafka.controller import controller, eligible_leaders
from epochfuzz.model.kafka.partition import processes
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import has_heartbeats
from epochfuzz.model.kafka.vocabulary.mechanisms import Registration
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import State


def register(p: State, r: int) -> int:
    """Tell the controller of r's new broker epoch, as r starts."""
    if p.registration == Registration.FENCED:
        refusal = take_for_failed(p, r)
        if refusal != APPLIED:
            return refusal
        eligible_leaders.follow_registration(p, r)
    p.fenced &= ~(1 << r)
    return APPLIED


def take_for_failed(p: State, r: int) -> int:
    """r loses leadership and the ISR, if it has any of them."""
    if controller.why_not_expired(p, r) == APPLIED:
        if not controller.may_end_session(p, r):
            return Refusal.EPOCHS_BOUND
        controller.end_session(p, r)
        p.goals |= Goal.REGISTERED_ANEW
    return APPLIED


def shutdown(p: State, r: int) -> int:
    """r shuts down under control: it leads nothing and is in no ISR by then, and its log is on disk.

    A KRaft broker may stop only once all others have seen that (BrokerHeartbeatManager.calculateNextBrokerState), which
    is why this is one event.
    """
    if not has_heartbeats(p):
        return Refusal.DOES_NOT_HAPPEN
    if not p.up[r]:
        return Refusal.IS_DOWN
    if controller.why_not_expired(p, r) == APPLIED:
        if not controller.may_end_session(p, r):
            return Refusal.EPOCHS_BOUND
        controller.end_session(p, r)
    p.fenced |= 1 << r
    processes.write_all(p, r)
    processes.die(p, r)
    eligible_leaders.note_clean_shutdown(p, r)
    p.goals |= Goal.SHUT_DOWN
    return APPLIED


def unfence(p: State, r: int) -> int:
    """Let the controller hear from r again, which never noticed."""
    if not has_heartbeats(p):
        return Refusal.DOES_NOT_HAPPEN
    if not p.up[r]:
        return Refusal.IS_DOWN
    if not p.fenced >> r & 1:
        return Refusal.IS_NOT_FENCED
    p.fenced &= ~(1 << r)
    return APPLIED
