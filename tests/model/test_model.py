"""Invariants of the model under every protocol, configuration and schedule."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from hypothesis import assume, given
from hypothesis import strategies as st

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import healing
from epochfuzz.model.kafka.contract.observation import log_entries
from epochfuzz.model.kafka.contract.properties import PROPERTIES
from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import encode
from epochfuzz.model.kafka.vocabulary.events import Verb
from epochfuzz.model.kafka.vocabulary.mechanisms import HighWatermarkTruncation, Registration
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, Protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import DELETED, TABLE, Partition, initial
from epochfuzz.strategies.configurations import configurations, protocols
from epochfuzz.strategies.schedules import lively_schedules

ON_DISK = ("log_record", "log_epoch", "standing", "leo", "checkpointed", "flushed")


class History(NamedTuple):
    """A schedule, with its protocol and its configuration."""

    protocol: Protocol
    settings: Configuration
    schedule: bytes


@st.composite
def histories(draw: st.DrawFn) -> History:
    protocol, settings = draw(protocols()), draw(configurations(max_replicas=3))
    return History(protocol, settings, draw(lively_schedules(protocol, settings, max_size=80)))


def run(history: History) -> Iterator[tuple[bool, Partition]]:
    """Yield, for each event, whether the event was enabled and the partition after it."""
    execution = Execution(history.protocol, history.settings)
    for event in history.schedule:
        yield execution.apply(event), execution.state


def end_of(history: History) -> Partition:
    p = initial(history.protocol, history.settings)
    for _, q in run(history):
        p = q
    return p


def cache_entries(p: Partition, r: int) -> list[tuple[int, int]]:
    """Return a replica's leader epoch cache as (epoch, start offset), oldest first."""
    return [(p.cache_epoch[r, i], p.cache_start[r, i]) for i in range(p.cache_size[r])]


def fields(p: Partition, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return every field of a state by name. Partitions define no equality."""
    return {field.name: getattr(p.copy(), field.name) for field in TABLE.fields if field.name not in but}


@given(history=histories(), data=st.data())
def test_a_schedule_still_runs_without_any_of_its_events(history: History, data: st.DataObject) -> None:
    gone = data.draw(st.integers(0, len(history.schedule)))
    shorter = history._replace(schedule=history.schedule[:gone] + history.schedule[gone + 1 :])
    assert {type(applied) for applied, _ in run(shorter)} <= {bool}


@given(history=histories())
def test_an_event_that_is_not_enabled_changes_nothing(history: History) -> None:
    before = fields(initial(history.protocol, history.settings), but=("goals",))
    for applied, p in run(history):
        after = fields(p, but=("goals",))
        assert applied or after == before
        before = after


@given(history=histories())
def test_a_state_survives_conversion_to_a_record_and_back(history: History) -> None:
    p = end_of(history)
    assert fields(Partition.from_record(p.to_record())) == fields(p)


@given(history=histories())
def test_a_high_watermark_is_within_the_log_unless_a_followers_truncation_may_keep_it(history: History) -> None:
    kept = history.protocol.choice("high_watermark_truncation") == HighWatermarkTruncation.KEPT
    for _, p in run(history):
        for r in range(p.replicas):
            assert p.high_watermark[r] >= 0
            assert p.high_watermark[r] <= p.leo[r] or (kept and not presumes_leadership(p, r))


@given(history=histories())
def test_standing_has_exactly_the_records_at_the_offset_of_their_first_append(history: History) -> None:
    for _, p in run(history):
        at_home = [
            sum(
                1 << record
                for offset, (record, _) in enumerate(log_entries(p, r))
                if record != DELETED and log.at(p.record_offset, record) == offset
            )
            for r in range(p.replicas)
        ]
        assert p.standing[: p.replicas] == at_home


@given(history=histories())
def test_a_log_has_no_record_at_or_beyond_its_end(history: History) -> None:
    for _, p in run(history):
        for word in (p.log_record, p.log_epoch):
            assert all(word[r] == log.prefix(word[r], p.leo[r]) for r in range(p.replicas))


@given(history=histories())
def test_the_entries_of_a_leader_epoch_cache_increase_and_stay_within_the_log(history: History) -> None:
    for _, p in run(history):
        for r in range(p.replicas):
            size = p.cache_size[r]
            epochs = [p.cache_epoch[r, i] for i in range(size)]
            starts = [p.cache_start[r, i] for i in range(size)]
            assert epochs == sorted(set(epochs))
            assert starts == sorted(starts)
            assert all(start <= p.leo[r] for start in starts)


@given(history=histories(), data=st.data())
def test_a_crash_and_a_restart_keep_the_disk(history: History, data: st.DataObject) -> None:
    p = end_of(history)
    r = data.draw(st.integers(0, p.replicas - 1))
    assume(p.registration == Registration.RESUME or p.controller_epoch + 2 <= p.epochs)  # a restart opens an epoch
    step(p, encode(Verb.RESTART, r))
    entries = [entry for entry in cache_entries(p, r) if entry[1] < p.leo[r]]
    disk = {name: getattr(p, name)[r] for name in ON_DISK}
    kept = (p.checkpointed if p.asynchronous_checkpoint else p.high_watermark)[r]
    assert step(p, encode(Verb.CRASH, r)) == APPLIED
    assert step(p, encode(Verb.RESTART, r)) == APPLIED
    assert {name: getattr(p, name)[r] for name in ON_DISK} == disk
    assert cache_entries(p, r) == entries
    # A log's high watermark is never below its log start offset (UnifiedLog).
    assert p.high_watermark[r] == max(p.log_start[r], min(kept, p.leo[r]))


@given(history=histories())
def test_no_event_removes_a_record_from_exposed_or_acked(history: History) -> None:
    exposed = acked = 0
    for _, p in run(history):
        assert exposed & ~p.exposed == 0
        assert acked & ~p.acked == 0
        exposed, acked = p.exposed, p.acked


@given(history=histories())
def test_a_property_lists_violations_exactly_if_it_is_broken(history: History) -> None:
    for _, p in run(history):
        for each in PROPERTIES:
            checked = p.copy()
            if each.at_end:
                healing.heal(checked)
            assert bool(list(each.violations(checked))) == each.is_broken(checked), each.name
            assert each.applies(p) or not each.is_broken(checked), f"{each.name} is broken where it does not apply"


def test_too_many_lossy_failures_void_the_guarantee_against_lost_records() -> None:
    p = initial(GENERATIONS["kip-966"], Configuration(power_loss=True))
    p.exposed = p.acked = 1
    lost = [each for each in PROPERTIES if each.name in ("no-committed-loss", "no-acked-loss")]
    assert all(each.is_broken(p) and list(each.violations(p)) for each in lost)
    p.lossy_failures = p.min_insync_replicas
    assert not any(each.is_broken(p) or list(each.violations(p)) for each in lost)
