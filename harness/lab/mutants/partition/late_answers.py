"""Mutants of the rules for late responses.

A response is late if the follower has learned of another leader or leader epoch after it sent the request.
"""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.partition import flight
from epochfuzz.model.kafka.vocabulary.state import Flight, State


@in_place_of(
    flight.outlive_decision,
    "a follower applies a response about a divergence even after a newer leader-and-ISR update",
    jira="KAFKA-13207",
    protocol="kip-966",
)
def diverging_answer_outlives_decision(p: State, follower: int) -> None:
    if p.flight[follower] != Flight.DIVERGING:
        flight.discard_answer(p, follower)


@in_place_of(
    flight.outlive_decision,
    "a follower applies the end of an epoch that it requested in an earlier leader epoch",
    jira="KAFKA-7786",
)
def epoch_end_outlives_decision(p: State, follower: int) -> None:
    if p.flight[follower] != Flight.EPOCH_END:
        flight.discard_answer(p, follower)
