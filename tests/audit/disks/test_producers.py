"""Gaps in the sequence numbers of idempotent producers."""

from hypothesis import given
from hypothesis import strategies as st

from epochfuzz.harness.audit.disks import producers
from epochfuzz.harness.audit.disks.producers import ProducerRuns, sequence_gaps
from tests.audit.disks.disk_sets import on_disk
from tests.audit.disks.test_comparing import replica
from tests.audit.disks.test_disk_files import batch

PRODUCER, EPOCH = 77, 2


def numbered(base: int, sequence: int, records: int = 5, leader_epoch: int = 1, epoch: int = EPOCH) -> bytes:
    return batch(base, leader_epoch, records, numbered=(PRODUCER, epoch, sequence))


def gaps_of(directory, batches, base=0):
    for broker in (1, 2):
        replica(directory, broker, batches, [(1, base)], base, base=base)
    return [gap for gap in on_disk(directory).gaps if "of producer" in gap]


def test_missing_sequence_numbers_are_one_gap_for_all_replicas(tmp_path):
    (gap,) = gaps_of(tmp_path, [numbered(0, 0), numbered(5, 12)])

    assert "t-0: 7 records of producer 77, epoch 2, are missing before offset 5" in gap
    assert "sequence number 12 is there where 5 should be" in gap
    assert "00000000000000000000.log, byte 71)" in gap


def test_consecutive_sequence_numbers_in_several_producer_epochs_are_no_gap(tmp_path):
    batches = [numbered(0, 0), batch(5, 1), numbered(6, 5), numbered(11, 0, epoch=3), numbered(16, 10)]

    assert gaps_of(tmp_path, batches) == []


def test_missing_first_sequence_numbers_are_a_gap_in_a_log_that_starts_at_offset_0(tmp_path):
    (gap,) = gaps_of(tmp_path, [batch(0, 1), numbered(1, 20)])

    assert "20 records of producer 77, epoch 2, are missing before offset 1" in gap


def test_missing_first_sequence_numbers_are_no_gap_if_retention_may_have_deleted_them(tmp_path):
    assert gaps_of(tmp_path, [numbered(100, 20), numbered(105, 25)], base=100) == []


def test_sequence_numbers_that_go_back_are_no_gap(tmp_path):
    assert gaps_of(tmp_path, [numbered(0, 0), numbered(5, 0)]) == []


def test_sequence_number_0_follows_the_greatest_sequence_number(tmp_path):
    assert gaps_of(tmp_path, [numbered(100, 2**31 - 3), numbered(105, 2), numbered(110, 7)], base=100) == []


def test_a_gap_between_two_segments_is_found():
    first, second = ProducerRuns(), ProducerRuns()
    first.add(PRODUCER, EPOCH, 0, 5, 0, 0)
    second.add(PRODUCER, EPOCH, 6, 5, 0, 5)
    (gap,) = sequence_gaps([("a", first.collected()), ("b", second.collected())], is_whole=True)

    assert (gap.file, gap.expected, gap.run.first, gap.missing) == ("b", 5, 6, 1)


def test_a_segment_with_too_many_producers_shows_no_gap(monkeypatch):
    monkeypatch.setattr(producers, "_MOST_RUNS", 2)
    many = ProducerRuns()
    for producer in range(3):
        many.add(producer, 0, 0, 1, producer, producer)
    later = ProducerRuns()
    later.add(0, 0, 9, 1, 0, 3)

    assert list(sequence_gaps([("a", many.collected()), ("b", later.collected())], is_whole=True)) == []


def test_a_partition_lists_at_most_three_gaps_and_counts_the_others(tmp_path):
    gaps = gaps_of(tmp_path, [numbered(number * 5, number * 10) for number in range(7)])

    assert [gap.split(" of producer")[0] for gap in gaps] == ["t-0: 5 records"] * 3 + ["t-0: 3 more sequence numbers"]


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.sets(st.integers(0, 11)))
def test_the_gaps_do_not_depend_on_the_borders_between_segments(kept, borders):
    parts = [ProducerRuns()]
    for index, is_kept in enumerate(kept):
        if index in borders:
            parts.append(ProducerRuns())
        if is_kept:
            parts[-1].add(PRODUCER, EPOCH, index, 1, index, index)
    found = sequence_gaps([(str(number), part.collected()) for number, part in enumerate(parts)], is_whole=True)
    missing = [number for gap in found for number in range(gap.expected, gap.run.first)]
    last = max((index for index, is_kept in enumerate(kept) if is_kept), default=0)

    assert missing == [index for index, is_kept in enumerate(kept) if not is_kept and index < last]
