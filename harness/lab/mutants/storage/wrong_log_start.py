"""Mutants with mistakes in the deletion of records at the start of a log."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.storage import log_start
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.state import State


@in_place_of(
    log_start.delete_below,
    "a replica also deletes the record at its new log start",
    settings=Configuration(retention=True),
)
def record_at_the_log_start_deleted(p: State, r: int, start: int) -> None:
    log_start.delete_below(p, r, min(start + 1, p.leo[r]))
