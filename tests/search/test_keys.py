"""The key of a search has every field that a rule reads, with enough bits.

If a field is missing from the key or has too few bits, two states have one key, and the search misses states. So these
tests compare the declaration of each field with the behaviour of the rules.
"""

from collections.abc import Iterator
from functools import cached_property, partial
from operator import attrgetter
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epochfuzz.harness.engine.explore.explore import Exploration, explore
from epochfuzz.harness.engine.keys import packing
from epochfuzz.harness.engine.walk import generate
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.fields import Field, always_read
from epochfuzz.model.kafka.controller.controller import forget_superseded
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary import state
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, NAMED, Protocol, parse_protocol
from epochfuzz.model.kafka.vocabulary.state import VARIABLES, Partition
from epochfuzz.strategies.configurations import configurations, protocols
from epochfuzz.strategies.schedules import lively_schedules
from tests.model.states import element, has_changed, may_differ, with_another_value

SEEDS = {
    "unread_isr": 7,
    "decided_fenced": 1,
    "flight_log_start": 2,
    "fetch_state": 7,
    "last_leader": 5,
    "clean": 5,
    "delivered": 2,
    "alter_stale": 2,
}
UNREAD_SOMEWHERE = [field for field in VARIABLES if field.read is not always_read]


@st.composite
def executions(draw: st.DrawFn) -> Execution:
    """Draw the state after a schedule under any protocol and configuration."""
    protocol: Protocol = draw(protocols())
    settings = draw(configurations(max_replicas=3))
    execution = Execution(protocol, settings, draw(lively_schedules(protocol, settings, max_size=60)))
    forget_superseded(execution.state)
    return execution


def key(p: Partition, layout: packing.Layout) -> npt.NDArray[np.int64]:
    """Return the key of a state, from the interpreted parts of the kernel."""
    record = p.to_record().reshape(1)
    packed = np.zeros(layout.words, np.int64)
    for kind, table in ((np.int8, layout.bytes_table), (np.int64, layout.words_table)):
        assert packing.pack_part(record.view(kind), 0, table, layout.words, packed, 0) == 0
    return packed


def unpacked(p: Partition, layout: packing.Layout) -> Partition:
    """Return the state that unpacking its key gives, with all variables set to 0 before."""
    packed, record = key(p, layout), p.to_record().reshape(1)
    for field in VARIABLES:
        record[field.name] = 0
    for kind, table in ((np.int8, layout.bytes_table), (np.int64, layout.words_table)):
        packing.unpack_part(packed, 0, table, layout.words, record.view(kind), 0)
    return Partition.from_record(record[0])


class Outcome:
    """The broken properties of a state, and the state after each event."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self.broken = execution.broken(), execution.broken_at_end()

    @cached_property
    def after(self) -> list[tuple[bool, Partition]]:
        """For each event, whether the event is enabled and the state after it."""
        return list(self.events())

    def events(self) -> Iterator[tuple[bool, Partition]]:
        for event in self.execution.settings.alphabet():
            after = self.execution.copy()
            yield after.apply(event), after.state

    def is_distinguishable(self, field: Field, draw: Random) -> bool:
        """Return whether another value of a field changes the result of an event or a property.

        A rule may fail if the value is impossible. Then the rule has read the field.
        """
        other = self.execution.copy()
        other.state = with_another_value(other.state, field, draw)
        try:
            return self.differs_from(Outcome(other), field)
        except ValueError:
            return True

    def differs_from(self, other: "Outcome", field: Field) -> bool:
        """Return whether two outcomes differ in a field that is read, other than the field itself.

        Fields that are not read may depend on each other, so they are not compared.
        """
        values = attrgetter(*(each.name for each in VARIABLES if each.read(self.execution.state) and each is not field))
        return self.broken != other.broken or any(
            enabled != enabled_there or values(p) != values(p_there)
            for (enabled, p), (enabled_there, p_there) in zip(self.after, other.events(), strict=True)
        )


@pytest.mark.thorough
@given(executions())
def test_unpacking_a_key_restores_every_field_that_is_read(execution: Execution) -> None:
    p = execution.state
    back = unpacked(p, packing.layout_for([p]))
    for field in VARIABLES:
        if field.read(p):
            for index in field.indices(p):
                assert element(back, field, index) == element(p, field, index), field.name


@pytest.mark.thorough
@given(executions(), st.randoms(use_true_random=False))
def test_another_value_of_a_field_changes_the_key_exactly_if_the_field_is_read(
    execution: Execution, draw: Random
) -> None:
    p = execution.state
    layout = packing.layout_for([p])
    own = key(p, layout).tolist()
    for field in filter(partial(may_differ, p), VARIABLES):
        other = key(with_another_value(p, field, draw), layout).tolist()
        assert (other != own) == field.read(p), field.name


@pytest.mark.thorough
@given(executions(), st.randoms(use_true_random=False))
def test_a_field_left_out_of_keys_makes_no_difference(execution: Execution, draw: Random) -> None:
    outcome = Outcome(execution)
    for field in filter(partial(may_differ, execution.state), UNREAD_SOMEWHERE):
        # A rule may read a field that always has its initial value under a protocol. Then another value is impossible.
        if not field.read(execution.state) and has_changed(execution.state, field):
            assert not outcome.is_distinguishable(field, draw), field.name


def test_the_epoch_cache_is_in_the_key_if_only_consumers_ask_for_the_end_of_an_epoch() -> None:
    settings = Configuration(consumer=True)
    own, other = (Execution(parse_protocol("hw:consumer_position=end_offset"), settings) for _ in range(2))
    other.state.cache_size[0] = own.state.cache_size[0] + 1
    layout = packing.layout_for([own.state, other.state])
    assert key(own.state, layout).tolist() != key(other.state, layout).tolist()


@pytest.mark.thorough
@pytest.mark.parametrize("field", [pytest.param(field, id=field.name) for field in VARIABLES if field.name != "goals"])
def test_the_rules_depend_on_every_field_that_is_declared_as_read(field: Field) -> None:
    """If such a field were declared as unread, the test above would find a state with a difference."""
    draw = Random(f"{field.name}{SEEDS.get(field.name, 3)}")  # any seed works; these show a difference soon
    protocols = [*NAMED.values(), parse_protocol("kip-320:idempotence=kept_at_truncation")]
    alone = field.name == "unread_isr"  # with other faults, a difference is too rare
    retention = field.name in ("log_start", "flight_log_start", "fetcher_failed", "deleted")
    for seed in range(20_000):
        protocol = draw.choice(protocols)
        settings = Configuration(
            replicas=draw.choice((2, 3)),
            acks=draw.choice(("1", "all")),
            power_loss=draw.random() < 0.5 and not alone,
            asynchronous_checkpoint=draw.random() < 0.5 and not alone,
            retries=draw.random() < 0.5 and not alone and not retention,
            consumer=draw.random() < 0.5 and not alone,
            consumer_group=not alone and draw.random() < 0.5,
            producer_epochs=not alone and draw.random() < 0.5,
            late_requests=field.name in ("late_record", "late_marker"),
            retention=retention,
            controllers=draw.choice((1, 2) if not alone else (1,)),
            transactions=draw.random() < 0.5 and not alone and not retention,
            lag_time=draw.random() < 0.5 or alone,
            delayed_fetch=draw.random() < 0.5 and not alone,
            min_insync_replicas=draw.choice((1, 2)),
        )
        if not field.read(state.initial(protocol, settings)):
            continue
        schedule = generate.schedule(seed, 0, generate.deck_for(KAFKA, settings, [protocol]))
        execution = Execution(protocol, settings, schedule[: draw.randrange(120)])
        if Outcome(execution).is_distinguishable(field, draw):
            return
    pytest.fail(f"no state was found in which {field.name} makes a difference")


@pytest.mark.thorough
@given(executions())
def test_every_value_is_within_the_declared_bounds_of_its_field(execution: Execution) -> None:
    packing.layout_for([execution.state]).check(execution.state)


# Searches in which each field takes, in some state, a value that needs all of its bits.
TIGHT = (
    ("kip-320", Configuration(records=1, epochs=1, power_loss=True)),
    ("kip-101", Configuration(records=1, epochs=1, asynchronous_checkpoint=True)),
    ("kip-320", Configuration(records=2, epochs=2)),
    ("kip-320", Configuration(records=2, epochs=2, records_per_fetch=2)),
    ("kip-320", Configuration(records=2, epochs=3)),
    ("kip-320", Configuration(records=2, epochs=1, retries=True)),
    ("kip-320:idempotence=kept_at_truncation", Configuration(records=1, epochs=1, retries=True)),
    ("kip-320", Configuration(records=1, epochs=2, consumer=True)),
    ("kip-320", Configuration(records=1, epochs=1, transactions=True)),
    ("kip-320:controller_writes=unconditional", Configuration(records=1, epochs=1, controllers=2)),
    ("hw", Configuration(records=2, epochs=1, retries=True, unclean_leader_election=True)),
    ("kip-841", Configuration(records=1, epochs=1)),
    ("kafka-2.8.1", Configuration(records=1, epochs=2)),
    ("kafka-3.6", Configuration(records=1, epochs=1)),
    ("kip-903", Configuration(records=1, epochs=1, power_loss=True)),
    ("kip-966", Configuration(records=1, epochs=1, power_loss=True, min_insync_replicas=2)),
    ("kip-903", Configuration(records=1, epochs=1, lag_time=True)),
    ("kip-320", Configuration(records=1, epochs=1, consumer=True, consumer_group=True)),
    (
        "kip-320",
        Configuration(records=2, epochs=2, retries=True, producer_epochs=True, unclean_leader_election=True),
    ),
    (
        "kip-320:producer_snapshot=last_record",
        Configuration(records=2, epochs=2, retries=True, producer_epochs=True, unclean_leader_election=True),
    ),
    ("kip-320:late_request=accepted", Configuration(records=1, epochs=1, transactions=True, late_requests=True)),
    ("kafka-2.8.0", Configuration(records=2, epochs=2, retention=True)),
)


def narrower(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    """Declare a field with one bit less."""
    bounds = Field.bounds

    def with_one_bit_less(self: Field, p: Partition) -> tuple[int, int]:
        least, greatest = bounds(self, p)
        bits = (greatest - least).bit_length()
        return (least, least + (1 << bits - 1) - 1) if self is field and bits else (least, greatest)

    monkeypatch.setattr(Field, "bounds", with_one_bit_less)


def searched(field: Field) -> Iterator[Exploration]:
    """Yield the results of the searches in TIGHT whose keys have the field."""
    for name, settings in TIGHT:
        protocol = parse_protocol(name)
        if field.read(state.initial(protocol, settings)):
            yield explore(protocol, settings, wanted=0)


@pytest.mark.thorough
@pytest.mark.parametrize("field", [pytest.param(field, id=field.name) for field in VARIABLES if field.name != "goals"])
def test_a_search_detects_a_field_with_one_bit_too_few(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    narrower(field, monkeypatch)
    with pytest.raises(packing.DoesNotFit, match=rf"^{field.name}\b"):
        list(searched(field))


def test_the_key_of_a_joint_search_has_the_fields_of_all_its_protocols() -> None:
    starts = [state.initial(GENERATIONS[name], Configuration()) for name in ("hw", "kip-320")]
    for order in (starts, starts[::-1]):
        named = {each.field.name for each in packing.layout_for(order).elements}
        assert {"cache_epoch", "epoch_start"} <= named
