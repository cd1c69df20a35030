"""What the state machines find in profile `ci`, as minimal event lists."""

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from model.configuration import Configuration
from strategies.failures import CommittedRecordLost, LogsDiverged
from strategies.machine import replication_machine


def test_side_by_side_with_kip_101_the_machine_finds_the_lost_record_of_hw():
    with pytest.raises(CommittedRecordLost) as lost:
        run_state_machine_as_test(replication_machine("hw", "kip-101", judged=["no-committed-loss"]))
    assert len(lost.value.events) == 9


def test_side_by_side_with_kip_101_the_machine_finds_the_divergence_of_hw():
    with pytest.raises(LogsDiverged) as diverged:
        run_state_machine_as_test(replication_machine("hw", "kip-101", judged=["no-divergence"]))
    assert len(diverged.value.events) == 10


def test_kip_101_alone_loses_nothing_in_a_short_run():
    quick = settings(settings.get_profile("ci"), max_examples=20, stateful_step_count=20)
    run_state_machine_as_test(replication_machine("kip-101", scouted=10), settings=quick)


@pytest.mark.parametrize("replicas", [2, 3])
def test_kip_320_holds(replicas):
    quick = settings(settings.get_profile("ci"), max_examples=20)
    run_state_machine_as_test(
        replication_machine("kip-320", settings=Configuration(replicas=replicas), scouted=100), settings=quick
    )
