"""A lost log directory: wipe."""

import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from tests.model.client_events.client_state import A, B, after, refusal

BOTH = "produce A, fetch B, receive B, fetch B, receive B"
ACKED = properties.set_of(["no-acked-loss"])


def test_wipe_is_not_enabled_without_lost_directory() -> None:
    assert "wipe" not in {verb_of(event).text for event in Configuration().alphabet()}
    assert refusal("wipe A", after("kip-320", "produce A")) == Refusal.DOES_NOT_HAPPEN


def test_the_settings_line_names_lost_directory_only_if_the_setting_is_on() -> None:
    assert "lost_directory" not in Configuration().text()
    assert "lost_directory=true" in Configuration(lost_directory=True).text()
    assert "power_loss=false" in Configuration().text()


def test_a_wiped_replica_loses_its_disk_and_stays_in_the_isr() -> None:
    p = after("kip-320", f"{BOTH}, wipe B", lost_directory=True).state
    assert (p.up[B], p.leo[B], p.high_watermark[B], p.cache_size[B], p.standing[B]) == (0, 0, 0, 0, 0)
    assert controller.isr(p) == 0b11
    assert p.leo[A] == 1


def test_a_dead_replica_can_lose_its_directory_once() -> None:
    dead = after("kip-320", f"{BOTH}, crash B", lost_directory=True)
    assert refusal("wipe B", dead) == APPLIED
    assert refusal("wipe B", after("kip-320", f"{BOTH}, crash B, wipe B", lost_directory=True)) == Refusal.LOG_IS_EMPTY


def test_only_a_lost_directory_with_records_counts_as_a_lossy_failure() -> None:
    assert after("kip-966", f"{BOTH}, wipe B", lost_directory=True, min_insync_replicas=2).state.lossy_failures == 1
    assert after("kip-966", "wipe B", lost_directory=True, min_insync_replicas=2).state.lossy_failures == 0


def test_a_replica_that_loses_its_directory_after_a_controlled_shutdown_is_not_clean() -> None:
    shut_down = f"{BOTH}, shutdown B"
    assert after("kip-966", shut_down, lost_directory=True, min_insync_replicas=2).state.clean == 1 << B
    assert after("kip-966", f"{shut_down}, wipe B", lost_directory=True, min_insync_replicas=2).state.clean == 0


@pytest.mark.thorough
def test_kip_966_survives_one_lost_directory_with_two_in_sync_replicas_and_3_9_does_not() -> None:
    settings = Configuration(records=1, epochs=3, min_insync_replicas=2, lost_directory=True)
    found = explore(parse_protocol("kafka-3.9.1"), settings, ACKED)
    assert found.shortest is not None
    assert schedule_texts(found.shortest) == [
        *("produce A", "fetch B", "receive B", "fetch B", "wipe A", "restart A", "expire B", "expire A"),
        *("register A", "notify A", "unfence A", "elect A", "notify A"),
    ]
    sound = explore(parse_protocol("kafka-4.1"), settings.within(settings.bounds._replace(epochs=2)), ACKED)
    assert (sound.shortest, sound.complete) == (None, True)
