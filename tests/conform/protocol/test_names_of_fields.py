"""For an unknown field of an adapter, epochfuzz suggests the field of the protocol that the author meant."""

import pytest

from epochfuzz.harness.conform.oracle.judge import FIELDS, meant


@pytest.mark.parametrize(
    ("unknown", "field"),
    [
        ("replicas.high_watermark", "replicas.hw"),
        ("replicas.highWatermark", "replicas.hw"),
        ("replicas.HW", "replicas.hw"),
        ("replicas.log-end-offset", "replicas.leo"),
        ("replicas.leaderEpoch", "replicas.leader_epoch"),
        ("replicas.epoch_cache", "replicas.epochs"),
        ("controller.in_sync_replicas", "controller.isr"),
        ("controler", "controller"),
        ("replica", "replicas"),
    ],
)
def test_a_misspelt_field_suggests_the_field_of_the_protocol(unknown: str, field: str) -> None:
    assert meant(unknown, FIELDS) == field


@pytest.mark.parametrize(
    "unknown", ["replicas.role", "replicas.state", "controller.term", "time", "replicas.remote_leo"]
)
def test_an_unrelated_field_suggests_no_field(unknown: str) -> None:
    assert meant(unknown, FIELDS) is None


def test_a_field_that_the_adapter_shows_is_not_suggested() -> None:
    assert meant("replicas.high_watermark", FIELDS.keys() - {"replicas.hw"}) is None
