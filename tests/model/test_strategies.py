"""The Hypothesis strategies, and the schedules that a scout finds."""

import random
from collections import Counter

import pytest
from hypothesis import find, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract.properties import NAMES, set_of
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import encode
from epochfuzz.model.kafka.vocabulary.events import PROGRESS, Verb, parse_schedule, verb_of
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, Protocol, parse_protocol
from epochfuzz.strategies import profiles, scouting
from epochfuzz.strategies.balance import balanced
from epochfuzz.strategies.configurations import configurations, protocols
from epochfuzz.strategies.failures import FAILURES, PropertyBroken, failure_class, first_broken
from epochfuzz.strategies.machine import LASTING, replication_machine
from epochfuzz.strategies.schedules import lively_schedules, schedules, simplest_first

HW = parse_protocol("hw")
SHRUNK_BY_EVERY_COMMIT = {
    "truncation",
    "fencing",
    "remote_leo",
}  # each takes a second; all mechanisms together are slow


@given(st.data())
def test_schedules_hold_only_events_that_the_configuration_can_enable(data: st.DataObject) -> None:
    settings = data.draw(configurations())
    drawn = data.draw(schedules(settings)) + data.draw(lively_schedules(HW, settings))
    assert set(drawn) <= set(settings.alphabet())


@given(configurations())
def test_simplest_first_lists_progress_events_before_all_others(settings: Configuration) -> None:
    alphabet = simplest_first(settings)
    assert sorted(alphabet) == sorted(settings.alphabet())
    disturbs = [verb_of(event) not in PROGRESS for event in alphabet]
    assert disturbs == sorted(disturbs)


@pytest.mark.thorough
def test_schedules_shrink_to_the_events_that_matter() -> None:
    wanted = parse_schedule(["produce A", "fetch B", "receive B"])
    settings = Configuration(records=2, epochs=0)

    def replicates(schedule: bytes) -> bool:
        return bool(Execution(HW, settings, schedule).state.leo[1])

    quietly = hypothesis_settings(max_examples=10_000, database=None)
    assert find(schedules(settings), replicates, settings=quietly) == wanted


@given(configurations())
def test_a_configuration_equals_the_defaults_with_its_changed_settings(settings: Configuration) -> None:
    assert Configuration(**settings.changed()) == settings


@given(protocols())
def test_parsing_the_name_of_a_protocol_returns_the_protocol(protocol: Protocol) -> None:
    assert parse_protocol(protocol.name) == protocol


@pytest.mark.thorough
def test_the_protocol_strategy_switches_every_mechanism() -> None:
    switched: set[str] = set()

    @hypothesis_settings(max_examples=1_000, database=None)
    @given(protocols())
    def note(protocol: Protocol) -> None:
        switched.update(each for each in MECHANISMS if f"{each}=" in protocol.name)

    note()
    assert switched == set(MECHANISMS)


@pytest.mark.parametrize(
    "mechanism",
    [pytest.param(each, marks=[] if each in SHRUNK_BY_EVERY_COMMIT else [pytest.mark.slow]) for each in MECHANISMS],
)
def test_a_protocol_that_switches_a_mechanism_shrinks_to_the_first_reference_design(mechanism: str) -> None:
    quietly = hypothesis_settings(max_examples=2_000, database=None)
    found = find(protocols(), lambda protocol: f"{mechanism}=" in protocol.name, settings=quietly)
    assert found.name.startswith(next(iter(GENERATIONS)))


def test_every_property_has_its_own_failure_class_for_every_protocol() -> None:
    assert tuple(FAILURES) == NAMES
    classes = {failure_class(protocol, name) for protocol in GENERATIONS.values() for name in FAILURES}
    assert len(classes) == len(GENERATIONS) * len(FAILURES)
    assert all(issubclass(failure, PropertyBroken) for failure in classes)


@pytest.mark.thorough
@pytest.mark.parametrize("wanted", ["no-committed-loss", "no-divergence", "convergence"])
def test_a_scout_returns_a_schedule_that_breaks_the_wanted_property_at_its_end(wanted: str) -> None:
    judged = ("no-committed-loss", "no-divergence") if wanted in LASTING else (wanted,)
    scout = scouting.Scout(
        protocol=HW, settings=Configuration(), judged=judged, wanted=(wanted,), schedules=5_000, disturbances=6
    )
    way = scouting.find(scout, 1, 50)
    execution = Execution(HW, scout.settings)
    for event in way[:-1]:
        assert execution.apply(event)
        assert not execution.broken() & set_of(judged)
    assert execution.apply(way[-1])
    assert first_broken(execution, set_of([wanted])) == wanted


def test_a_scouts_schedule_breaks_nothing_if_any_event_is_removed() -> None:
    scout = scouting.Scout(
        protocol=HW,
        settings=Configuration(),
        judged=("isr-complete",),
        wanted=("isr-complete",),
        schedules=5_000,
        disturbances=6,
    )
    way = scouting.find(scout, 1, 50)
    for i in range(len(way)):
        assert first_broken(Execution(HW, scout.settings, way[:i] + way[i + 1 :]), set_of(scout.judged)) is None


def test_a_scout_returns_a_schedule_of_example_length_if_nothing_breaks() -> None:
    kip_320 = parse_protocol("kip-320")
    scout = scouting.Scout(
        protocol=kip_320, settings=Configuration(), judged=LASTING, wanted=LASTING, schedules=20, disturbances=6
    )
    execution = Execution(kip_320, scout.settings)
    enabled = [event for event in scouting.find(scout, 1, 50) if execution.apply(event)]
    assert 50 <= len(enabled) < 60


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("protocol", "settings"),
    [
        ("kip-320", Configuration()),
        ("kip-320", Configuration(replicas=3)),
        ("kafka-4.0.0", Configuration(replicas=3, min_insync_replicas=2, power_loss=True)),
    ],
)
def test_every_verb_has_a_share_of_balanced_schedules(protocol: str, settings: Configuration) -> None:
    counts: Counter[Verb] = Counter()
    for seed in range(60):
        execution = Execution(parse_protocol(protocol), settings)
        schedule = balanced(random.Random(seed), execution, execution.alphabet(), 50)
        counts.update(verb_of(event) for event in schedule if execution.apply(event))
    share = {verb.text: counts[verb] / counts.total() for verb in {verb_of(each) for each in execution.alphabet()}}
    assert min(share.values()) > 0.007, share  # 0.01 to 0.02 for the rarest verbs in 100 examples; this sample is small
    assert max(share.values()) < 0.25, share


@pytest.mark.thorough
def test_a_balanced_schedule_has_few_crashes_and_restarts_after_leader_epochs_are_used_up() -> None:
    few = Configuration(epochs=3, records=3)
    counts: Counter[Verb] = Counter()
    for seed in range(20):
        execution = Execution(parse_protocol("kip-320"), few)
        schedule = balanced(random.Random(seed), execution, execution.alphabet(), 50)
        counts.update(verb_of(event) for event in schedule if execution.apply(event))
    assert counts[Verb.CRASH] + counts[Verb.RESTART] < counts.total() / 5  # two thirds before


def test_a_balanced_schedule_ends_if_no_verb_is_enabled() -> None:
    execution = Execution(parse_protocol("kip-320"), Configuration())
    assert balanced(random.Random(1), execution, b"", 50) == b""
    restart = bytes([encode(Verb.RESTART, 0)])
    assert set(balanced(random.Random(1), execution, restart, 50)) == {
        *restart
    }  # the event is not enabled, and the attempts end


@pytest.mark.thorough
@given(st.data())
def test_an_event_is_enabled_in_every_state_below_the_bound_on_leader_epochs(
    data: st.DataObject,
) -> None:
    settings, protocol = data.draw(configurations()), data.draw(protocols())
    execution = Execution(protocol, settings, data.draw(lively_schedules(protocol, settings)))
    # A restart counts as a failure first (KIP-380). At the bound on epochs, a broker that led cannot restart.
    at_bound = execution.state.controller_epoch == settings.epochs
    assert at_bound or any(execution.copy().apply(event) for event in execution.alphabet())


def test_a_failure_names_its_protocol_property_and_events() -> None:
    broken = failure_class(HW, "no-divergence")(HW, "no-divergence", ["produce A", "fetch B"])
    assert str(broken) == "hw broke no-divergence after 2 events: produce A, fetch B"
    assert (broken.protocol, broken.property, broken.events) == (HW, "no-divergence", ["produce A", "fetch B"])


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"judged": ["no-loss"]}, "unknown property 'no-loss'"),
        ({"wanted": "no-loss"}, "unknown property 'no-loss'"),
        ({"wanted": "isr-complete"}, "including the wanted one"),
        ({"judged": []}, "at least one property"),
        ({"judged": ["no-acked-loss"], "settings": Configuration(acks="1")}, "at least one property"),
    ],
)
def test_a_machine_rejects_properties_that_it_cannot_check(choices: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replication_machine("hw", **choices)  # type: ignore[arg-type]


def test_only_the_ci_profile_is_derandomized_and_profiles_grow_from_dev_to_nightly() -> None:
    profiles.register()
    drawn = {name: hypothesis_settings.get_profile(name) for name in ("dev", "ci", "nightly")}
    assert [name for name, profile in drawn.items() if profile.derandomize] == ["ci"]
    assert drawn["dev"].max_examples < drawn["ci"].max_examples < drawn["nightly"].max_examples
