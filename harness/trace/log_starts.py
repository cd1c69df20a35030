"""Describe the effects of an event on log start offsets: deleted records, restarted logs, and failed fetchers."""

from collections.abc import Iterator

from epochfuzz.harness.trace.change import Change
from epochfuzz.model.kafka.contract.observation import record_name
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, Verb, verb_of
from epochfuzz.model.kafka.vocabulary.in_force import has_retention


def trim(c: Change) -> Iterator[str]:
    """Describe the event `trim`: a replica deletes the first record of its log."""
    start = c.before.log_start[c.r]
    record = record_name(c.before, log.at(c.before.log_record[c.r], start))
    yield f"{c.name} deletes {record}, and its log starts at offset {start + 1}"


def restarts(c: Change) -> bool:
    """Return whether the replica deletes its log in this step, because the log ends below the leader's log start."""
    return has_retention(c.after) and c.after.log_start[c.r] > c.before.leo[c.r]


def restart(c: Change) -> str:
    """Return a clause about a replica that deletes its log and starts it again at the leader's log start."""
    start = c.after.log_start[c.r]
    end = c.before.leo[c.r]
    return f"{c.name} deletes its log, which ended at {end}, and starts again at its leader's log start {start}"


def consequences(c: Change) -> Iterator[str]:
    """Yield clauses about log starts that neither `trim` nor a restarted log explains, and about failed fetchers."""
    if not has_retention(c.after):
        return
    for r in range(c.after.replicas):
        old, new = c.before.log_start[r], c.after.log_start[r]
        is_told = r == c.r and (verb_of(c.event) is Verb.TRIM or restarts(c))
        if new != old and not is_told:
            yield f"{REPLICA_NAMES[r]}'s log starts at offset {new} now"
        if c.after.fetcher_failed[r] and not c.before.fetcher_failed[r]:
            start = c.before.flight_log_start[r]
            yield (
                f"{REPLICA_NAMES[r]}'s fetcher fails: the response has log start {start},"
                f" beyond {REPLICA_NAMES[r]}'s HW {c.after.high_watermark[r]}"
            )
