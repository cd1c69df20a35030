"""A broker's fetch before its registration evades the check of KIP-903, on Kafka's own code."""

import pytest

from tests.conform.kafka.unregistered import LOST, VARIANTS, run
from tests.systems.jvm.build import missing

pytestmark = pytest.mark.slow

LATE = "a delayed fetch"


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_broker_without_records_joins_the_isr_with_the_broker_epoch_minus_1(variant: str) -> None:
    for lack in missing():
        pytest.skip(lack)
    code, text = run("4.3.1", VARIANTS[variant])
    assert "P2 applies the metadata log. Its broker epoch is -1" in text
    assert "AlterPartition, for comparison with P1's broker epoch 9: INELIGIBLE_REPLICA" in text
    assert "AlterPartition, with the broker epoch -1: NONE" in text
    assert "A returns with its log, and follows P3: LEO 0" in text
    assert text.splitlines()[-1] == "LOST: 3 of 3 acknowledged records"
    assert code == LOST
    assert ("with the broker epoch of P1: NOT_LEADER_OR_FOLLOWER" in text) == (variant == LATE)
