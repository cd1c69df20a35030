"""Two controllers: events of the deposed controller after a failover, and the properties that they break."""

from typing import Any

import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.trace import rivals
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.contract.properties import BY_NAME
from epochfuzz.model.kafka.controller.controller import true_leader
from epochfuzz.model.kafka.step import possible_events, step
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import (
    Verb,
    alphabet,
    parse_event,
    parse_schedule,
    schedule_texts,
    verb_of,
)
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, RELEASES, ablations, parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Partition

A, B, C = range(3)
UNCHECKED = "kip-320:controller_writes=unconditional"
VERSIONED = "kip-320:controller_writes=versioned"
SPLIT_BRAIN = "failover A, elect B, notify B, produce B, rival_elect C, rival_notify C, produce C"
SPLIT_OF_TWO = "failover A, expire B, notify A, produce A, rival_elect B, rival_notify B, produce B"


def after(protocol: str, schedule: str, **settings: Any) -> Execution:
    """Return the model with two controllers after a schedule of which every event is enabled."""
    execution = Execution(parse_protocol(protocol), Configuration(**({"controllers": 2} | settings)))
    for event in filter(None, schedule.split(", ")):
        assert execution.apply(parse_event(event)), event
    return execution


def state(protocol: str, schedule: str, **settings: Any) -> Partition:
    return after(protocol, schedule, **settings).state


def refusal(event: str, protocol: str, schedule: str, **settings: Any) -> int:
    return step(state(protocol, schedule, **settings), parse_event(event))


def searched(protocol: str, *names: str, **settings: Any) -> tuple[bool, list[str] | None]:
    """Search exhaustively. Returns whether every state was visited, and a shortest schedule that breaks a property."""
    wanted = properties.set_of(names or properties.NAMES)
    found = explore(parse_protocol(protocol), Configuration(controllers=2, **settings), wanted)
    return found.complete, None if found.shortest is None else schedule_texts(found.shortest)


# One controller.


def test_a_configuration_with_one_controller_has_no_failover_and_rival_events():
    settings = Configuration()
    assert not {"failover", "rival_elect", "rival_notify"} & {verb_of(event).text for event in settings.alphabet()}
    p = Execution(parse_protocol(UNCHECKED), settings).state
    assert refusal("failover A", UNCHECKED, "", controllers=1) == Refusal.DOES_NOT_HAPPEN
    assert [name for name in MECHANISMS if name.startswith("controller_")] == [
        "controller_writes",
        "controller_requests",
    ]
    assert not {Verb.FAILOVER, Verb.RIVAL_ELECT, Verb.RIVAL_NOTIFY} & set(map(verb_of, possible_events(p)))


@pytest.mark.parametrize(
    ("protocol", "verbs"),
    [
        ("kip-320", {"failover"}),
        (VERSIONED, {"failover", "rival_elect"}),
        (UNCHECKED, {"failover", "rival_elect", "rival_notify"}),
    ],
)
def test_the_alphabet_contains_only_the_rival_events_that_the_protocol_allows(protocol, verbs):
    events = possible_events(state(protocol, ""))
    assert {verb_of(event).text for event in events} & {"failover", "rival_elect", "rival_notify"} == verbs


def test_failover_is_written_with_replica_a_only():
    assert [event for event in alphabet(3) if verb_of(event) is Verb.FAILOVER] == [parse_event("failover A")]
    assert refusal("failover B", "kip-320", "") == Refusal.IS_OF_THE_CONTROLLER


def test_ablation_includes_controller_writes_only_if_there_are_two_controllers():
    def ablated(**settings: Any) -> set[str]:
        variants = ablations(GENERATIONS["kip-320"], Configuration(**settings))
        return {name.partition("=")[0] for each in variants for name in each.name.partition(":")[2].split(",")}

    assert "controller_writes" in ablated(controllers=2)
    assert "controller_writes" not in ablated()


# Events of the deposed controller.


def test_a_second_failover_is_not_enabled():
    assert refusal("failover A", "kip-320", "failover A") == Refusal.HAS_FAILED_OVER


def test_rival_elect_is_not_enabled_before_a_failover():
    assert refusal("rival_elect B", UNCHECKED, "") == Refusal.HAS_NOT_FAILED_OVER


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_deposed_controllers_write_fails_if_it_checks_the_controller_epoch(generation):
    assert refusal("rival_elect B", generation, "failover A") == Refusal.CONTROLLER_MOVED


def test_a_deposed_controller_elects_once_and_only_from_the_isr_that_it_knows():
    assert refusal("rival_elect A", UNCHECKED, "failover A") == Refusal.IS_RIVAL_LEADER
    assert refusal("rival_elect B", UNCHECKED, "failover A, crash B") == Refusal.IS_DOWN
    assert refusal("rival_elect B", UNCHECKED, "produce A, shrink B, failover A") == Refusal.NOT_IN_RIVAL_ISR
    assert refusal("rival_elect B", UNCHECKED, "failover A, rival_elect B") == Refusal.RIVAL_HAS_DECIDED
    assert refusal("rival_elect B", UNCHECKED, "failover A", epochs=0) == Refusal.EPOCHS_BOUND


def test_a_deposed_controller_uses_the_isr_from_before_the_failover():
    p = state(UNCHECKED, "produce A, failover A, shrink B, rival_elect B, rival_notify B")
    assert (p.isr[B], p.decided_isr[0]) == (0b11, 0b01)


@pytest.mark.parametrize("since", ["elect B", "expire B", "produce A, shrink B"])
def test_a_conditional_write_fails_once_the_partition_has_changed(since):
    assert refusal("rival_elect B", VERSIONED, f"failover A, {since}") == Refusal.BAD_VERSION


def test_a_conditional_write_that_succeeds_is_an_ordinary_leader_and_isr_update():
    p = state(VERSIONED, "failover A, rival_elect B, notify B")
    assert (p.controller_epoch, p.decided_leader[1], true_leader(p)) == (1, B, B)
    assert refusal("rival_notify B", VERSIONED, "failover A, rival_elect B") == Refusal.DOES_NOT_HAPPEN


def test_the_new_controller_does_not_see_an_unconditional_write():
    p = state(UNCHECKED, "failover A, rival_elect B, rival_notify B")
    assert (p.controller_epoch, true_leader(p), p.known_leader[B], p.known_epoch[B]) == (0, A, B, 1)
    shown = observe(p)["controller"]
    assert (shown["leader"], shown["epoch"], shown["rival_leader"], shown["rival_epoch"]) == ("A", 0, "B", 1)


def test_an_observation_has_rival_fields_only_if_the_protocol_allows_rival_elections():
    assert "rival_leader" not in observe(state("kip-320", "failover A"))["controller"]
    assert observe(state(UNCHECKED, "failover A"))["controller"]["rival_epoch"] is None


# Replicas that receive its requests.


def test_a_replica_ignores_a_rival_update_of_an_epoch_that_it_knows():
    assert refusal("rival_notify B", UNCHECKED, "failover A, elect B, rival_elect B, notify B") in (
        Refusal.STALE_CONTROLLER_EPOCH,
        Refusal.KNOWS_LATER_EPOCH,
    )
    unfenced = f"{UNCHECKED},controller_requests=any"
    assert (
        refusal("rival_notify B", unfenced, "failover A, elect B, rival_elect B, notify B") == Refusal.KNOWS_LATER_EPOCH
    )


def test_until_a_restart_a_replica_that_met_the_new_controller_rejects_the_deposed_controller():
    heard = "failover A, elect B, rival_elect B, notify B"
    assert refusal("rival_notify B", UNCHECKED, heard) == Refusal.STALE_CONTROLLER_EPOCH
    assert state(UNCHECKED, heard).met == 0b10
    assert state(UNCHECKED, f"{heard}, crash B").met == 0


def test_an_update_from_before_the_failover_does_not_reveal_the_new_controller():
    assert state(UNCHECKED, "elect B, failover A, notify B").met == 0


def test_an_update_of_the_deposed_controller_does_not_reveal_the_new_controller():
    assert state(VERSIONED, "failover A, rival_elect B, notify B").met == 0
    assert state(VERSIONED, "failover A, rival_elect B, notify B, elect A, notify B").met == 0b10


# Broken properties.


@pytest.mark.parametrize("schedule", [SPLIT_BRAIN, SPLIT_OF_TWO])
@pytest.mark.parametrize("requests", ["any", "controller_epoch"])
def test_two_leaders_of_one_epoch_write_different_records_at_one_offset(schedule, requests):
    replicas = 3 if schedule == SPLIT_BRAIN else 2
    execution = after(f"{UNCHECKED},controller_requests={requests}", schedule, replicas=replicas)
    p = execution.state
    assert BY_NAME["log-matching"].is_broken(p)
    assert [p.known_epoch[r] for r in range(p.replicas) if p.known_leader[r] == r].count(1) == 2
    assert p.goals & Goal.RIVAL_OBEYED


@pytest.mark.parametrize("fencing", ["epoch", "none"])
def test_leader_epoch_fencing_does_not_distinguish_two_leaders_of_one_epoch(fencing):
    # A follower of one leader fetches from the other leader. Both lead epoch 1, so fencing does not reject the fetch.
    protocol = f"{UNCHECKED},fencing={fencing}"
    execution = after(protocol, f"{SPLIT_BRAIN}, notify A, fetch A, receive A", replicas=3)
    assert BY_NAME["log-matching"].is_broken(execution.state)
    assert execution.apply(parse_event("fetch A"))


@pytest.mark.parametrize("check", ["versioned", "controller_epoch"])
def test_a_checked_controller_write_prevents_the_split_brain(check):
    execution = Execution(
        parse_protocol(f"kip-320:controller_writes={check}"), Configuration(replicas=3, controllers=2)
    )
    for event in parse_schedule(SPLIT_BRAIN.split(", ")):
        execution.apply(event)
    assert not execution.broken()
    assert not execution.broken_at_end()


def test_unconditional_writes_break_log_matching_in_seven_events():
    assert searched(UNCHECKED, "log-matching", replicas=3, records=2, epochs=1) == (False, SPLIT_BRAIN.split(", "))


@pytest.mark.thorough
def test_two_replicas_break_log_matching_only_if_fencing_a_follower_opens_an_epoch():
    """In kip-903, fencing a follower opens no epoch. Both controllers can elect only B, so they do not disagree."""
    assert searched(UNCHECKED, "log-matching", records=2, epochs=2) == (False, SPLIT_OF_TWO.split(", "))
    kept = "kip-903:controller_writes=unconditional,isr_change=atomic"
    assert searched(kept, "log-matching", records=2, epochs=2) == (True, None)


@pytest.mark.parametrize("requests", ["any", "controller_epoch"])
def test_conditional_writes_hold_every_property_under_each_rule_for_controller_requests(requests):
    assert searched(f"{VERSIONED},controller_requests={requests}", records=1, epochs=2) == (True, None)


def test_releases_up_to_2_0_1_have_versioned_controller_writes():
    writes = {name: release.choice("controller_writes").text for name, release in RELEASES.items()}
    versioned = [name for name, choice in writes.items() if choice == "versioned"]
    assert versioned == ["kafka-0.10.2", "kafka-1.1", "kafka-2.0.0", "kafka-2.0.1"]
    assert {choice for name, choice in writes.items() if name not in versioned} == {"controller_epoch"}


def test_rival_fields_keep_their_initial_values_if_the_protocol_allows_no_rival():
    p = state("kip-320", "failover A")
    assert (p.rival_epoch, p.rival_leader, p.rival_isr, p.met) == (0, NONE, 0, 0)


# The timeline.


@pytest.mark.parametrize(
    ("protocol", "schedule", "shown"),
    [
        (UNCHECKED, "", ""),
        (UNCHECKED, "failover A", "old controller lives on"),
        (UNCHECKED, "failover A, rival_elect C", "old: C leads e1, ISR A,B,C"),
        (VERSIONED, "failover A, rival_elect C", ""),
    ],
)
def test_the_timeline_shows_the_view_of_the_deposed_controller(protocol: str, schedule: str, shown: str) -> None:
    assert rivals.describe(state(protocol, schedule, replicas=3)) == shown
