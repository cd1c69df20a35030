"""Mutants with mistakes in the treatment of a transaction's late requests."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.clients import late_requests
from epochfuzz.model.kafka.storage import transactions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import State, Transaction


@in_place_of(
    late_requests.mark,
    "the coordinator ends the open transaction when it gets the response to a late copy of the last marker",
    settings=Configuration(transactions=True, late_requests=True),
)
def transaction_ended_by_a_late_marker(p: State, r: int) -> int:
    refusal = late_requests.mark(p, r)
    if refusal == APPLIED and p.transaction != Transaction.NONE:
        transactions.close(p)
    return refusal
