"""Registration and fencing: the controller handles a broker that restarts, shuts down, or sends no heartbeats.

Since KIP-380 (2.2) the controller first treats a restarted broker as failed: KafkaController.BrokerChange handles the
failure and then the start of a bounced broker. A KRaft controller rejects the registration of a new process while the
session of the former process is valid: DuplicateBrokerRegistrationException (ClusterControlManager.registerBroker). The
controller registers the new process as fenced. The broker reads the metadata log up to its registration, and then its
heartbeats ask for unfencing (BrokerHeartbeatManager.calculateNextBrokerState). A fenced broker cannot lead or join the
ISR.
"""

from epochfuzz.model.kafka.controller import broker_epochs, controller, eligible_leaders
from epochfuzz.model.kafka.partition import processes
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import has_heartbeats, registers_in_two_steps
from epochfuzz.model.kafka.vocabulary.mechanisms import Registration
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import Incarnation, State


def register(p: State, r: int) -> int:
    """Register r's new process with a new broker epoch. r stays fenced."""
    if not registers_in_two_steps(p):
        return Refusal.DOES_NOT_HAPPEN
    if not p.up[r]:
        return Refusal.IS_DOWN
    if p.incarnation[r] != Incarnation.UNREGISTERED:
        return Refusal.IS_REGISTERED
    if not p.fenced >> r & 1:
        return Refusal.SESSION_IS_VALID
    take_in(p, r)
    return APPLIED


def take_in(p: State, r: int) -> None:
    """Write r's registration to the metadata log. r will not learn updates older than the current one."""
    eligible_leaders.follow_registration(p, r)
    p.incarnation[r] = Incarnation.CATCHING_UP
    p.known_epoch[r] = p.controller_epoch - 1
    broker_epochs.note_restart(p, r)
    p.goals |= Goal.REGISTERED_ANEW


def return_at_once(p: State, r: int) -> int:
    """Register r with a new broker epoch at the moment when r starts (ZooKeeper).

    Since KIP-380 r first loses leadership and its place in the ISR. Returns EPOCHS_BOUND if this loss needs a leader
    epoch beyond the bound of the run, APPLIED otherwise.
    """
    if p.registration == Registration.FENCED:
        refusal = take_for_failed(p, r)
        if refusal != APPLIED:
            return refusal
        eligible_leaders.follow_registration(p, r)
    p.fenced &= ~(1 << r)
    return APPLIED


def take_for_failed(p: State, r: int) -> int:
    """Treat r as failed: end r's leadership, and remove r from the ISR unless r is its last member.

    With eligible leader replicas (KIP-966) the last member leaves the ISR too. Returns EPOCHS_BOUND if this change
    needs a leader epoch beyond the bound of the run, APPLIED otherwise.
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
    if broker_epochs.is_unregistered(p, r):
        return Refusal.IS_NOT_REGISTERED
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
    if broker_epochs.is_unregistered(p, r):
        return Refusal.IS_NOT_REGISTERED
    if registers_in_two_steps(p) and p.incarnation[r] == Incarnation.CATCHING_UP:
        return Refusal.IS_CATCHING_UP
    p.fenced &= ~(1 << r)
    return APPLIED
