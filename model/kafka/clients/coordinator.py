"""The transaction coordinator: it commits or aborts a transaction, and sends a marker to the partition's leader.

The coordinator never loses its decision, and repeats the marker until the marker is replicated. Consumers learn only
from the log whether a record is committed (model/kafka/storage/transactions.py).
"""

from epochfuzz.model.kafka.partition import replication
from epochfuzz.model.kafka.storage import log, transactions
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import has_late_requests, has_transactions
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import State, Transaction


def commit(p: State, r: int) -> int:
    """Let the coordinator commit the transaction, if all its records are acknowledged. Leader r appends the marker."""
    if p.transaction == Transaction.OPEN and p.transaction_records & ~p.acked != 0:
        return Refusal.IS_NOT_ACKNOWLEDGED
    return end(p, r, Transaction.COMMITTING)


def abort(p: State, r: int) -> int:
    """Let the coordinator abort the transaction. Leader r appends the marker."""
    return end(p, r, Transaction.ABORTING)


def end(p: State, r: int, decision: int) -> int:
    """Let the coordinator commit or abort the transaction, as `decision` says, and send the marker to r.

    If the coordinator has already made this decision, the event only sends the marker again.
    """
    if not has_transactions(p):
        return Refusal.DOES_NOT_HAPPEN
    if p.transaction == Transaction.NONE:
        return Refusal.NO_TRANSACTION
    if p.transaction == Transaction.OPEN:
        decide(p, decision)
        write_marker(p, r)
        return APPLIED
    return write_marker(p, r) if p.transaction == decision else Refusal.IS_DECIDED_OTHERWISE


def decide(p: State, decision: int) -> None:
    """Store the decision to commit or abort the transaction. No failure of a broker changes the decision."""
    p.transaction = decision
    if decision == Transaction.COMMITTING:
        p.committed_records |= p.transaction_records
        p.goals |= Goal.TRANSACTION_COMMITTED
    else:
        p.goals |= Goal.TRANSACTION_ABORTED


def write_marker(p: State, r: int) -> int:
    """Append the marker of the decided transaction to the log of leader r.

    If r's log does not end with a record of the transaction, the event is not enabled (Refusal.NOTHING_TO_MARK). But if
    no log has a record of the transaction any more, or if a late marker has ended the transaction in r's log, the
    transaction ends without another marker.
    """
    if not replication.presumes_leadership(p, r):
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    if transactions.is_open(p, r):
        marker = transactions.marker_for(p.transaction)
        replication.append_as_leader(p, r, marker)
        replication.advance_over_appended(p, r)
        return APPLIED
    if has_late_requests(p) and transactions.is_marked(p, r):  # a late marker has ended the transaction in the log
        transactions.close(p)
        return APPLIED
    if not transactions.is_gone(p):
        return Refusal.NOTHING_TO_MARK
    transactions.close(p)
    return APPLIED


def finish(p: State, leader: int) -> None:
    """Send the marker of a decided transaction to the leader, after all faults have stopped.

    With `late_requests` the function first aborts an open transaction (transaction.timeout.ms). The function writes no
    marker in a leader epoch above log.LAST_EPOCH, because such an epoch does not fit into a log.
    """
    if has_late_requests(p) and p.transaction == Transaction.OPEN:
        decide(p, Transaction.ABORTING)
    is_decided = p.transaction == Transaction.COMMITTING or p.transaction == Transaction.ABORTING
    if is_decided and p.known_epoch[leader] <= log.LAST_EPOCH:
        write_marker(p, leader)
