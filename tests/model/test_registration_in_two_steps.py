"""Registration in KRaft (ClusterControlManager.registerBroker, BrokerHeartbeatManager.calculateNextBrokerState)."""

import pytest

from epochfuzz.model.kafka.contract import healing
from tests.model.states import after, is_enabled, state

A, B = range(2)
IN_KRAFT = ["kip-841", "kip-966", "kafka-3.3", "kafka-3.9.1", "kafka-4.1"]
RETURNS = "crash B, restart B, expire B, register B, notify B"


@pytest.mark.parametrize("protocol", IN_KRAFT)
def test_a_kraft_controller_registers_no_new_process_before_the_old_session_has_ended(protocol):
    assert not is_enabled("register B", protocol, "crash B, restart B")
    assert is_enabled("register B", protocol, "crash B, restart B, expire B")
    assert is_enabled("register B", protocol, "expire B, crash B, restart B")
    assert is_enabled("register B", protocol, "shutdown B, restart B")


@pytest.mark.parametrize("protocol", IN_KRAFT)
def test_a_broker_learns_no_metadata_before_it_is_registered(protocol):
    unregistered = "crash B, restart B, expire B"
    assert not is_enabled("notify B", protocol, unregistered)
    assert not is_enabled("unfence B", protocol, unregistered)
    assert not is_enabled("shutdown B", protocol, unregistered)
    assert is_enabled("notify B", protocol, f"{unregistered}, register B")
    assert not is_enabled("register B", protocol, f"{unregistered}, register B")


@pytest.mark.parametrize("protocol", IN_KRAFT)
def test_a_new_process_is_fenced_until_it_has_read_the_metadata_log(protocol):
    p = state(protocol, RETURNS)
    assert (p.fenced >> B & 1, p.known_leader[B]) == (1, A)
    assert not is_enabled("unfence B", protocol, "crash B, restart B, expire B, register B")
    assert is_enabled("unfence B", protocol, RETURNS)
    assert not is_enabled(
        "elect B", protocol, "shutdown B, restart B, register B, notify B", unclean_leader_election=True
    )


@pytest.mark.parametrize("protocol", ["kafka-3.1", "kip-320", "kafka-2.1.1", "kip-841:registration=resume"])
def test_under_zookeeper_a_broker_registers_when_it_starts(protocol):
    assert not is_enabled("register B", protocol, "crash B, restart B")
    assert is_enabled("notify B", protocol, "crash B, restart B")


def test_an_unregistered_broker_is_registered_after_all_faults_have_stopped():
    execution = after("kip-966", "produce A, crash B, restart B")
    healing.heal(execution.state)
    assert (execution.state.fenced, execution.state.leo[B], execution.state.known_leader[B]) == (0, 1, A)
