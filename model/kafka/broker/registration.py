"""Registration and fencing: the controller handles a broker that returns, leaves, or sends no heartbeats.

Since KIP-380 (2.2) a returning broker counts as failed first. KafkaController.BrokerChange handles the failure and then
the start of a bounced broker, and a KRaft controller fences a broker as it registers. In KRaft a broker stays fenced
until the controller receives its heartbeats. A fenced broker cannot lead or join the ISR.
"""

from epochfuzz.model.kafka.controller import controller, eligible_leaders
from epochfuzz.model.kafka.partition import processes
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import has_heartbeats
from epochfuzz.model.kafka.vocabulary.mechanisms import Registration
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import State


def register(p: State, r: int) -> int:
    """Register r with a new broker epoch, as r starts.

    Since KIP-380 r first loses leadership and its place in the ISR. Returns EPOCHS_BOUND if this loss needs a leader
    epoch beyond the bound of the run.
    """
    if p.registration == Registration.FENCED:
        refusal = take_for_failed(p, r)
        if refusal != APPLIED:
            return refusal
        eligible_leaders.follow_registration(p, r)
    p.fenced &= ~(1 << r)
    return APPLIED


def take_for_failed(p: State, r: int) -> int:
    """Treat r as failed: take leadership and its place in the ISR from r.

    Returns EPOCHS_BOUND if that needs a leader epoch beyond the bound of the run, APPLIED otherwise.
    """
    if controller.why_not_expired(p, r) == APPLIED:
        if not controller.may_end_session(p, r):
            return Refusal.EPOCHS_BOUND
        controller.end_session(p, r)
        p.goals |= Goal.REGISTERED_ANEW
    return APPLIED


def shutdown(p: State, r: int) -> int:
    """Run r's controlled shutdown: r gives up leadership, leaves the ISR, writes its log to disk, and stops.

    The last member stays in the ISR, except with eligible leader replicas (KIP-966). A KRaft broker stops only after
    all other brokers have seen these changes (BrokerHeartbeatManager.calculateNextBrokerState). So one event models the
    whole shutdown.
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
    """Unfence r, because the controller receives r's heartbeats again."""
    if not has_heartbeats(p):
        return Refusal.DOES_NOT_HAPPEN
    if not p.up[r]:
        return Refusal.IS_DOWN
    if not p.fenced >> r & 1:
        return Refusal.IS_NOT_FENCED
    p.fenced &= ~(1 << r)
    return APPLIED
