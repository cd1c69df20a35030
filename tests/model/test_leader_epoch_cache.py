"""The leader epoch cache, in the situations of Kafka's own LeaderEpochFileCacheTest."""

import pytest

from epochfuzz.model.kafka.storage.leader_epoch_cache import MAX_OFFSET, UNDEFINED, CheckpointError, LeaderEpochCache


def test_a_checkpoint_gives_the_end_offset_of_each_epoch():
    cache = LeaderEpochCache.from_checkpoint("0\n3\n0 0\n1 300\n2 500\n")
    assert [cache.end_offset_for(epoch, 800) for epoch in range(3)] == [(0, 300), (1, 500), (2, 800)]
    assert [cache.end_offset_for_kip_101(epoch, 800) for epoch in range(3)] == [300, 500, 800]


def test_an_epoch_ends_where_the_next_epoch_starts():
    assert LeaderEpochCache([(0, 0), (1, 120)]).end_offset_for(0, 150) == (0, 120)


@pytest.mark.parametrize("rule", ["original", "kafka-7415"])
def test_a_lookup_in_an_empty_cache_or_of_an_undefined_epoch_returns_undefined(rule):
    assert LeaderEpochCache(rule=rule).end_offset_for(0, 5) == UNDEFINED
    assert LeaderEpochCache([(0, 0)], rule).end_offset_for(-1, 5) == UNDEFINED
    assert LeaderEpochCache([(0, 0)], rule).end_offset_for_kip_101(-1, 5) == -1


def test_a_lookup_of_a_missing_epoch_returns_the_largest_epoch_below():
    cache = LeaderEpochCache([(0, 10), (2, 13), (4, 17)])
    assert [cache.end_offset_for(epoch, 20) for epoch in (1, 2, 3)] == [(0, 13), (2, 17), (2, 17)]


def test_a_lookup_above_the_latest_epoch_returns_undefined():
    assert LeaderEpochCache([(2, 100)]).end_offset_for(3, 150) == UNDEFINED
    assert LeaderEpochCache([(2, 100)], "original").end_offset_for_kip_101(3, 150) == -1


def test_since_kafka_7415_an_epoch_below_the_first_ends_at_the_start_of_the_first():
    entries = [(5, 11), (6, 12), (7, 13)]
    assert LeaderEpochCache(entries).end_offset_for(4, 14) == (4, 11)
    assert LeaderEpochCache(entries, "original").end_offset_for(4, 14) == UNDEFINED
    assert LeaderEpochCache(entries, "original").end_offset_for_kip_101(4, 14) == -1


@pytest.mark.parametrize("rule", ["original", "kafka-7415"])
def test_the_cache_keeps_the_first_offset_assigned_to_an_epoch(rule):
    cache = LeaderEpochCache([(2, 6)], rule)
    cache.assign(2, 7)
    assert cache.entries == [(2, 6)]


@pytest.mark.parametrize(("entry", "kept"), [((1, 20), [(2, 9)]), ((3, 8), [(2, 9)]), ((3, 9), [(2, 9), (3, 9)])])
def test_the_original_cache_ignores_an_entry_that_goes_backwards(entry, kept):
    cache = LeaderEpochCache([(2, 9)], "original")
    cache.assign(*entry)
    assert cache.entries == kept


@pytest.mark.parametrize(
    ("entry", "kept"),
    [
        ((7, 9), [(7, 9)]),
        ((6, 13), [(5, 11), (6, 13)]),
        ((8, 12), [(5, 11), (8, 12)]),
        ((8, 13), [(5, 11), (6, 12), (8, 13)]),
        ((8, 14), [(5, 11), (6, 12), (7, 13), (8, 14)]),
    ],
)
def test_since_kafka_7415_a_new_entry_removes_all_entries_that_are_not_below_it(entry, kept):
    cache = LeaderEpochCache([(5, 11), (6, 12), (7, 13)])
    cache.assign(*entry)
    assert cache.entries == kept


@pytest.mark.parametrize(("end", "kept"), [(-1, 3), (12, 3), (11, 2), (9, 2), (8, 1), (6, 0), (0, 0)])
def test_truncation_from_the_end_removes_epochs_that_start_at_or_beyond_the_end(end, kept):
    cache = LeaderEpochCache([(2, 6), (3, 8), (4, 11)])
    cache.truncate_from_end(end)
    assert cache.entries == [(2, 6), (3, 8), (4, 11)][:kept]


@pytest.mark.parametrize(
    ("start", "kept"),
    [
        (-1, [(2, 6), (3, 8), (4, 11)]),
        (5, [(2, 6), (3, 8), (4, 11)]),
        (7, [(2, 7), (3, 8), (4, 11)]),
        (8, [(3, 8), (4, 11)]),
        (9, [(3, 9), (4, 11)]),
        (15, [(4, 15)]),
    ],
)
def test_retention_moves_the_first_epoch_to_the_new_log_start(start, kept):
    cache = LeaderEpochCache([(2, 6), (3, 8), (4, 11)])
    cache.truncate_from_start(start)
    assert cache.entries == kept


def test_the_cache_supports_the_largest_offset_of_kafka():
    cache = LeaderEpochCache([(0, 0), (1, MAX_OFFSET)])
    assert cache.end_offset_for(0, MAX_OFFSET) == (0, MAX_OFFSET)
    assert LeaderEpochCache.from_checkpoint(cache.to_checkpoint()).entries == cache.entries


@pytest.mark.parametrize(("epoch", "offset"), [(-1, 0), (0, -1), (2**31, 0), (0, 2**63)])
def test_assign_rejects_epochs_and_offsets_out_of_kafkas_range(epoch, offset):
    with pytest.raises(ValueError, match="is a number from 0 to"):
        LeaderEpochCache().assign(epoch, offset)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the version is 0"),
        ("1\n0\n", "line 1: the version is 0; got '1'"),
        ("0\n", "line 2: the number of entries"),
        ("0\nmany\n", "line 2: the number of entries .* got 'many'"),
        ("0\n2\n0 0\n", "line 2: 2 entries are announced; 1 follow"),
        ("0\n1\n0\n", "line 3: an entry is 'epoch offset'"),
        ("0\n1\n0 0 0\n", "line 3: an entry is 'epoch offset'"),
        ("0\n1\nx 0\n", "line 3: an epoch"),
        ("0\n1\n0 -5\n", "line 3: an offset"),
        ("0\n1\n0 9223372036854775808\n", "line 3: an offset"),
        ("0\n2\n1 0\n1 5\n", "line 4: epochs and offsets go up"),
        ("0\n2\n0 5\n1 4\n", "line 4: epochs and offsets go up"),
    ],
)
def test_the_error_for_a_malformed_checkpoint_names_the_line(text, message):
    with pytest.raises(CheckpointError, match=message):
        LeaderEpochCache.from_checkpoint(text)
