"""The leader epoch cache: the start offset of each leader epoch, as in the file `leader-epoch-checkpoint`.

`cache_size[r]` is the number of entries in the cache of replica r. `cache_epoch[r, i]` and `cache_start[r, i]` hold
entry i; entry 0 is the oldest. The functions read no other field of `p` except the mechanism `epoch_cache`, and have no
bound on offsets or entries.
"""

from epochfuzz.model.kafka.vocabulary.mechanisms import EpochCache
from epochfuzz.model.kafka.vocabulary.state import NONE, State


def latest_epoch(p: State, r: int) -> int:
    """Return the epoch of the last entry in r's leader epoch cache, or NONE if the cache is empty."""
    size = p.cache_size[r]
    return p.cache_epoch[r, size - 1] if size > 0 else NONE


def assign(p: State, r: int, epoch: int, offset: int) -> None:
    """Add the entry (epoch, offset) to r's cache, if the rule `p.epoch_cache` accepts it as new."""
    if p.cache_size[r] == 0:
        add_entry(p, r, epoch, offset)
    elif p.epoch_cache == EpochCache.KAFKA_7415:
        assign_kafka_7415(p, r, epoch, offset)
    else:
        assign_original(p, r, epoch, offset)


def assign_original(p: State, r: int, epoch: int, offset: int) -> None:
    """Add an entry if its epoch is higher than the last entry's and its offset is not lower (Kafka 0.11 to 2.0.0)."""
    last = p.cache_size[r] - 1
    if epoch > p.cache_epoch[r, last] and offset >= p.cache_start[r, last]:
        add_entry(p, r, epoch, offset)


def assign_kafka_7415(p: State, r: int, epoch: int, offset: int) -> None:
    """Add an entry, and remove all entries whose epoch or start offset is not below the new entry's (KAFKA-7415).

    Nothing changes if the last entry has the same epoch and does not start later.
    """
    last = p.cache_size[r] - 1
    if epoch == p.cache_epoch[r, last] and offset >= p.cache_start[r, last]:
        return
    while last >= 0 and contradicts(p, r, last, epoch, offset):
        remove_last_entry(p, r)
        last -= 1
    add_entry(p, r, epoch, offset)


def contradicts(p: State, r: int, index: int, epoch: int, offset: int) -> bool:
    """Return whether the entry at `index` has an epoch of at least `epoch` or a start offset of at least `offset`."""
    return p.cache_epoch[r, index] >= epoch or p.cache_start[r, index] >= offset


def add_entry(p: State, r: int, epoch: int, offset: int) -> None:
    """Add the entry (epoch, offset) after the last entry of r's cache, without a check."""
    size = p.cache_size[r]
    p.cache_epoch[r, size] = epoch
    p.cache_start[r, size] = offset
    p.cache_size[r] = size + 1


def remove_last_entry(p: State, r: int) -> None:
    """Remove the last entry of r's cache. Its fields become zero, so that states with equal caches are equal."""
    last = p.cache_size[r] - 1
    p.cache_epoch[r, last] = 0
    p.cache_start[r, last] = 0
    p.cache_size[r] = last


def truncate_from_end(p: State, r: int, end: int) -> None:
    """Remove the entries of r's cache that start at `end` or beyond, after a truncation of the log to `end`."""
    while p.cache_size[r] > 0 and p.cache_start[r, p.cache_size[r] - 1] >= end:
        remove_last_entry(p, r)


def truncate_from_start(p: State, r: int, start: int) -> None:
    """Remove the epochs that end at or before `start`, after the deletion of all records below the offset `start`.

    The epoch that contains `start` then starts there.
    """
    while p.cache_size[r] > 1 and p.cache_start[r, 1] <= start:
        remove_first_entry(p, r)
    if p.cache_size[r] > 0:
        p.cache_start[r, 0] = max(p.cache_start[r, 0], start)


def remove_first_entry(p: State, r: int) -> None:
    """Remove the first entry of r's cache, and move each other entry forward by one place."""
    for index in range(1, p.cache_size[r]):
        p.cache_epoch[r, index - 1] = p.cache_epoch[r, index]
        p.cache_start[r, index - 1] = p.cache_start[r, index]
    remove_last_entry(p, r)


def last_at_or_below(p: State, r: int, epoch: int) -> int:
    """Return the index of the last entry whose epoch is `epoch` or lower; NONE (-1) if every epoch is higher."""
    index = p.cache_size[r] - 1
    while index >= 0 and p.cache_epoch[r, index] > epoch:
        index -= 1
    return index


def end_of_entry(p: State, r: int, index: int, leo: int) -> int:
    """Return the end offset of the entry at `index`: the start of the next entry, or `leo` for the last entry."""
    return p.cache_start[r, index + 1] if index + 1 < p.cache_size[r] else leo


def end_offset_kip_101(p: State, r: int, epoch: int, leo: int) -> tuple[int, int]:
    """Return (NONE, end offset of `epoch` in r's log), or (NONE, NONE) if the end offset is undefined (KIP-101).

    The end offset is the start of the first higher epoch, or `leo` for the latest epoch.
    """
    _, end = end_offset_kip_279(p, r, epoch, leo)
    return NONE, end


def end_offset_kip_279(p: State, r: int, epoch: int, leo: int) -> tuple[int, int]:
    """Return (epoch, end offset) of the highest cached epoch up to `epoch` in r's log (KIP-279).

    Returns (NONE, NONE) if `epoch` is above the latest cached epoch. Every release does so, although KIP-279 says
    otherwise (LeaderEpochFileCache.endOffsetFor, 2.0). If `epoch` is below the first cached epoch, the function returns
    the result of `end_below_first_entry`.
    """
    if epoch == NONE or epoch > latest_epoch(p, r):
        return NONE, NONE
    index = last_at_or_below(p, r, epoch)
    if index == NONE:
        return end_below_first_entry(p, r, epoch)
    return p.cache_epoch[r, index], end_of_entry(p, r, index, leo)


def end_below_first_entry(p: State, r: int, epoch: int) -> tuple[int, int]:
    """Return (epoch, end offset) for an epoch older than every entry.

    With KAFKA-7415 the end offset is the start of the first entry. Without KAFKA-7415 the result is undefined: (NONE,
    NONE).
    """
    if p.epoch_cache == EpochCache.KAFKA_7415:
        return epoch, p.cache_start[r, 0]
    return NONE, NONE
