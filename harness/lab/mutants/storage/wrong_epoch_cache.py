"""Mutants of the leader epoch cache: mistakes in adding and removing entries, and in looking up epochs."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.partition import leadership, replication, truncation
from epochfuzz.model.kafka.storage import epoch_cache, log
from epochfuzz.model.kafka.vocabulary.state import NONE, State


@in_place_of(epoch_cache.truncate_from_end, "the epoch cache keeps the entries of truncated records")
def cache_not_truncated(p: State, r: int, end: int) -> None:
    pass


@in_place_of(
    truncation.cut,
    "the epoch cache keeps an entry at the log's end where no record had to be truncated",
    jira="KAFKA-10706",
)
def cache_truncated_with_the_log_only(p: State, r: int, end: int) -> None:
    if end < p.leo[r]:
        truncation.cut(p, r, end)


@in_place_of(epoch_cache.truncate_from_end, "a truncation keeps the epoch that starts at the new log end offset")
def cache_cut_leaves_the_entry_at_the_end(p: State, r: int, end: int) -> None:
    epoch_cache.truncate_from_end(p, r, end + 1)


@in_place_of(epoch_cache.truncate_from_end, "a truncation of the log clears the whole epoch cache")
def cache_cut_clears_it(p: State, r: int, end: int) -> None:
    epoch_cache.truncate_from_end(p, r, 0)


@in_place_of(replication.append_as_follower, "a follower does not note the epochs of the records that it copies")
def cache_kept_by_leaders_only(p: State, follower: int, record: int, epoch: int) -> None:
    log.append(p, follower, record, epoch)


@in_place_of(
    replication.append_as_follower,
    "a follower notes the start of an epoch one offset too late",
)
def follower_notes_epochs_one_late(p: State, follower: int, record: int, epoch: int) -> None:
    epoch_cache.assign(p, follower, epoch, p.leo[follower] + 1)
    log.append(p, follower, record, epoch)


@in_place_of(
    replication.append_as_follower,
    "a follower notes copied records under the epoch that it knows, not the one they were written in",
)
def follower_notes_its_own_epoch(p: State, follower: int, record: int, epoch: int) -> None:
    epoch_cache.assign(p, follower, p.known_epoch[follower], p.leo[follower])
    log.append(p, follower, record, epoch)


@in_place_of(
    leadership.assign_epoch_start,
    "a new leader notes its epoch only with its first record, so the epoch before has no end until then",
    jira="KAFKA-7415",
)
def epoch_not_noted_when_elected(p: State, r: int) -> None:
    pass


@in_place_of(leadership.assign_epoch_start, "a new leader notes its epoch as starting at its high watermark")
def epoch_noted_at_high_watermark(p: State, r: int) -> None:
    epoch_cache.assign(p, r, p.known_epoch[r], p.high_watermark[r])


@in_place_of(
    epoch_cache.assign_kafka_7415,
    "the cache ignores a new entry that contradicts older entries, instead of removing those",
    jira="KAFKA-7415",
)
def conflicting_epochs_kept(p: State, r: int, epoch: int, offset: int) -> None:
    epoch_cache.assign_original(p, r, epoch, offset)


@in_place_of(
    epoch_cache.contradicts,
    "a new entry removes entries of later epochs, but not entries with later start offsets",
)
def conflicting_starts_kept(p: State, r: int, index: int, epoch: int, offset: int) -> bool:
    return p.cache_epoch[r, index] >= epoch


@in_place_of(
    epoch_cache.end_below_first_entry,
    "an epoch older than the first entry of the cache has no end, so a divergent log stays",
    jira="KAFKA-7415",
)
def epochs_before_the_first_unknown(p: State, r: int, epoch: int) -> tuple[int, int]:
    return NONE, NONE


@in_place_of(
    epoch_cache.end_below_first_entry,
    "an epoch older than the first entry of the cache ends at offset 0",
)
def epochs_before_the_first_end_at_zero(p: State, r: int, epoch: int) -> tuple[int, int]:
    return epoch, 0


@in_place_of(epoch_cache.end_of_entry, "the leader responds with the offset after the end of the epoch")
def epoch_end_off_by_one(p: State, r: int, index: int, leo: int) -> int:
    return min(leo, epoch_cache.end_of_entry(p, r, index, leo) + 1)


@in_place_of(epoch_cache.end_of_entry, "the leader responds with its LEO for every epoch that it knows")
def every_epoch_ends_at_the_log_end(p: State, r: int, index: int, leo: int) -> int:
    return leo


@in_place_of(
    epoch_cache.end_offset_kip_279,
    "the leader responds with an older epoch's end under the name of the requested epoch",
)
def asked_epoch_is_answered(p: State, r: int, epoch: int, leo: int) -> tuple[int, int]:
    known, end = epoch_cache.end_offset_kip_279(p, r, epoch, leo)
    return (NONE if known == NONE else epoch), end


@in_place_of(
    epoch_cache.last_at_or_below,
    "a lookup finds the last epoch below the requested epoch, not the requested one",
)
def epoch_below_is_answered(p: State, r: int, epoch: int) -> int:
    return epoch_cache.last_at_or_below(p, r, epoch - 1)


@in_place_of(truncation.requested_epoch, "a follower asks where its first epoch ends, not its last")
def asks_for_its_first_epoch(p: State, r: int) -> int:
    return p.cache_epoch[r, 0] if p.cache_size[r] > 0 else NONE


@in_place_of(
    truncation.requested_epoch,
    "a follower asks where its known leader epoch ends, not the epoch of its last record",
)
def asks_for_the_current_epoch(p: State, r: int) -> int:
    return p.known_epoch[r]
