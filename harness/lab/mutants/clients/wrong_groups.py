"""Mutants with mistakes in a consumer's committed position, or in the start of a new producer epoch."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.clients import consumer_group, producer
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import State

_GROUP = Configuration(consumer=True, consumer_group=True, unclean_leader_election=True)
_EPOCHS = Configuration(retries=True, producer_epochs=True)


@in_place_of(
    consumer_group.commit_offset,
    "a consumer commits the offset behind the record that it reads next",
    settings=_GROUP,
)
def committed_a_record_ahead(p: State, r: int) -> int:
    refusal = consumer_group.commit_offset(p, r)
    if refusal == APPLIED and p.committed < p.records:
        p.committed += 1
    return refusal


@in_place_of(
    consumer_group.validates,
    "a restarted consumer validates its committed position only at the next change of the leader",
    settings=_GROUP,
)
def committed_position_not_validated(p: State) -> bool:
    return False


@in_place_of(
    producer.bumps_for,
    "a producer begins a new epoch for a record that a leader accepts",
    settings=_EPOCHS,
)
def epoch_begun_without_an_error(p: State, r: int, record: int) -> bool:
    return record < p.produced and p.acked >> record & 1 == 0
