"""Mutants of transactions: the end of a transaction, its marker, and the records that consumers may read."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.clients import coordinator
from epochfuzz.model.kafka.partition import replication
from epochfuzz.model.kafka.storage import log, transactions
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import Marker, State, Transaction


@in_place_of(coordinator.abort, "an aborted transaction gets the marker of a committed transaction")
def aborted_transaction_marked_as_committed(p: State, r: int) -> int:
    end = p.leo[r]
    refusal = coordinator.abort(p, r)
    if p.leo[r] > end:
        p.log_record[r] ^= (Marker.ABORT ^ Marker.COMMIT) << (4 * end)
    return refusal


@in_place_of(
    transactions.delivered, "read_committed consumers do not learn which transactions below the LSO are aborted"
)
def aborted_records_delivered(p: State, r: int) -> int:
    records = 0
    for offset in range(transactions.last_stable_offset(p, r)):
        record = log.at(p.log_record[r], offset)
        if not transactions.is_marker(p, record):
            records |= 1 << record
    return records


@in_place_of(coordinator.write_marker, "the coordinator does not wait for the marker to be replicated")
def transaction_over_once_the_marker_is_written(p: State, r: int) -> int:
    refusal = coordinator.write_marker(p, r)
    if refusal == APPLIED:
        transactions.close(p)
    return refusal


@in_place_of(replication.append_as_follower, "a follower skips markers, as consumers do")
def markers_not_replicated(p: State, follower: int, record: int, epoch: int) -> None:
    if not transactions.is_marker(p, record):
        replication.append_as_follower(p, follower, record, epoch)


@in_place_of(
    transactions.why_not_produced,
    "a late record is appended to a transaction that ends, and gets its marker",
    jira="KAFKA-14402",
)
def late_record_marked_with_the_others(p: State, r: int) -> int:
    return APPLIED


@late_record_marked_with_the_others.and_in_place_of(transactions.note_produced)
def _(p: State, record: int) -> None:
    if p.transaction != Transaction.COMMITTING and p.transaction != Transaction.ABORTING:
        transactions.note_produced(p, record)


@in_place_of(
    transactions.end_of_transactions, "a new leader does not know of the transactions that were open before it led"
)
def open_transaction_forgotten_by_the_next_leader(p: State, r: int, end: int) -> int:
    start = transactions.end_of_transactions(p, r, end)
    while start < end and log.at(p.log_epoch[r], start) < p.known_epoch[r]:
        start += 1
    return start
