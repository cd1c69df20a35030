"""Check the client under test: its acknowledgements after each event, and all else at the end of a schedule.

At the end, the partition is healthy, and the client has had time to finish.
"""

from epochfuzz.harness.conform.client.client_process import ClientProcess
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind, SubjectFailed
from epochfuzz.harness.serve.served_cluster import ServedCluster
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES
from epochfuzz.model.kafka.vocabulary.state import NONE


class GuaranteeBroken(SubjectFailed):
    """The client breaks a guarantee. `name` is the name of the property in the model."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(DiscrepancyKind.PROMISE, sentence)
        self.fault = Discrepancy(DiscrepancyKind.PROMISE, name, "holds", sentence)


def is_at_end(cluster: ServedCluster, client: ClientProcess, sent: int) -> bool:
    """Return whether the client has finished: it has reported each record's outcome, and read all committed records.

    If there is a leader, the consumer must also fetch from a replica that it may read from.
    """
    is_done = not (_unreported(cluster, client, sent) or _unread(cluster) or _skipped(cluster, client))
    return is_done and not _is_absent(cluster)


def check_acknowledgements(cluster: ServedCluster, client: ClientProcess) -> None:
    """Check that a leader has acknowledged each record that the client reports as acknowledged, except with acks=0.

    Call this after each event: a later event can acknowledge a record that the client has reported too early. Raises
    GuaranteeBroken.
    """
    partition = cluster.partition
    p = partition.state
    acked = {payload.text for number, payload in enumerate(partition.payloads) if p.acked >> number & 1}
    if p.acks != Acks.NONE and (early := sorted(client.acked - acked)):
        raise GuaranteeBroken("no-acked-loss", f"the client reports {_list(early)} as acknowledged, and no leader did")


def check_end(cluster: ServedCluster, client: ClientProcess, sent: int, complaints: list[str]) -> None:
    """Check at the end of a schedule that the client has kept the guarantees and has finished.

    Raises GuaranteeBroken, and SubjectFailed for a client that has not finished. The message of SubjectFailed includes
    the first of `complaints`, which are about requests that the endpoint does not offer.
    """
    leader = cluster.partition.leader()
    check_acknowledgements(cluster, client)
    if skipped := _skipped(cluster, client):
        where = f"offset {_position(cluster, leader)} of {REPLICA_NAMES[leader]}'s log"
        raise GuaranteeBroken("consumer-no-skip", f"the consumer is at {where}, and has never read {_list(skipped)}")
    why = f"; {complaints[0]}" if complaints else ""
    if _is_absent(cluster):
        raise SubjectFailed(DiscrepancyKind.TIMEOUT, f"the consumer has sent no Fetch request to the leader{why}")
    if unreported := _unreported(cluster, client, sent):
        raise SubjectFailed(
            DiscrepancyKind.TIMEOUT, f"the client has reported neither success nor failure of {_list(unreported)}{why}"
        )
    if unread := _unread(cluster):
        raise SubjectFailed(DiscrepancyKind.TIMEOUT, f"the consumer has not read {_list(unread)}, and stopped{why}")


def _is_absent(cluster: ServedCluster) -> bool:
    """Return whether there is a leader, but the consumer's latest fetch went to no replica that it may read from."""
    leader = cluster.partition.leader()
    return leader != NONE and not _follows(cluster, leader)


def _follows(cluster: ServedCluster, leader: int) -> bool:
    """Return whether the consumer's latest Fetch request went to the leader, or to a follower that serves consumers.

    KIP-392 lets followers serve consumers.
    """
    p, last = cluster.partition.state, cluster.last_fetch
    if last is None:
        return False
    reads_there = p.follower_reads and p.up[last.replica] and p.known_leader[last.replica] == leader
    return last.replica == leader or bool(reads_there)


def _unreported(cluster: ServedCluster, client: ClientProcess, sent: int) -> list[str]:
    """Return the sent records whose outcome the client has not reported. Returns [] if no leader accepts records."""
    p, leader = cluster.partition.state, cluster.partition.leader()
    if leader == NONE or replica_sets.size(p.isr[leader]) < p.min_insync_replicas:
        return []
    values = (f"m{number}" for number in range(sent))
    return [value for value in values if value not in client.acked | client.failed]


def _unread(cluster: ServedCluster) -> list[str]:
    """Return the leader's committed records from the consumer's position to the high watermark."""
    leader = cluster.partition.leader()
    if leader == NONE:
        return []
    end = cluster.partition.state.high_watermark[leader]
    return _values(cluster, leader)[_position(cluster, leader) : end]


def _skipped(cluster: ServedCluster, client: ClientProcess) -> list[str]:
    """Return the records in the leader's log below the consumer's position that the consumer has never read."""
    leader = cluster.partition.leader()
    if leader == NONE:
        return []
    passed = _values(cluster, leader)[: _position(cluster, leader)]
    return [value for value in passed if value not in client.read]


def _position(cluster: ServedCluster, leader: int) -> int:
    """Return the offset of the consumer's latest Fetch request.

    Returns 0 if this request went to no replica that the consumer may read from.
    """
    return cluster.last_fetch.offset if cluster.last_fetch is not None and _follows(cluster, leader) else 0


def _values(cluster: ServedCluster, leader: int) -> list[str]:
    return [payload.text for _, payload in cluster.partition.entries(leader)]


def _list(values: list[str]) -> str:
    return ", ".join(values)
