"""Events that clients cause, such as `produce`: steer a client to the event's replica, and admit one request there."""

from typing import Final

from epochfuzz.harness.serve.listeners import Listeners
from epochfuzz.harness.serve.served_cluster import ClientRole, LastFetch, ServedCluster
from epochfuzz.harness.trace import refusal
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, Verb, verb_of

ROLES: Final = {
    Verb.PRODUCE: ClientRole.PRODUCER,
    Verb.RETRY: ClientRole.PRODUCER,
    Verb.CONSUME: ClientRole.CONSUMER,
    Verb.REFRESH: ClientRole.CONSUMER,
    Verb.COMMIT_OFFSET: ClientRole.CONSUMER,
    Verb.RESET: ClientRole.CONSUMER,
}
# A commit concerns no leader, and a consumer that restarts forgets the leader that it knew.
_AT_ANY_EPOCH: Final = (Verb.COMMIT_OFFSET, Verb.RESET)


def why_not(cluster: ServedCluster, event: int) -> str:
    """Return why an event of a client is not enabled, or an empty text.

    For the check, the model's consumer gets the position and the leader epoch of the real client. A client that knows a
    leader epoch ignores metadata with an earlier leader epoch (KIP-320).
    """
    r, verb = replica_of(event), verb_of(event)
    knows = 0 if verb in _AT_ANY_EPOCH else cluster.told.get(ROLES[verb], (0, 0))[1]
    if cluster.partition.state.known_epoch[r] < knows:
        return f"the client knows a later leader epoch than {REPLICA_NAMES[r]}"
    p = cluster.partition.state.copy()
    p.position = 0 if cluster.last_fetch is None else cluster.last_fetch.offset
    _, p.consumer_epoch = cluster.told.get(ClientRole.CONSUMER, (0, 0))
    return refusal.why_not(p, event)


async def steer(listeners: Listeners, event: int) -> None:
    """Show the event's replica to the clients as the leader, and admit one request there.

    Before `retry`, the function ends the producers' connections, because a producer sends a record again only if it
    received no response. For `refresh` and `reset`, the function waits until the consumer has received the leader.
    `consume` does not change the leader that clients see.
    """
    cluster, verb, r = listeners.cluster, verb_of(event), replica_of(event)
    if verb is not Verb.CONSUME:
        cluster.show(ROLES[verb], r)
    if verb in (Verb.REFRESH, Verb.RESET):
        cluster.last_fetch = None  # the consumer's next Fetch request shows its new position
        while cluster.told.get(ClientRole.CONSUMER) != cluster.leader_for(ClientRole.CONSUMER):
            await cluster.partition.change()
    if verb is Verb.RETRY:
        await listeners.end_those_of_producers()
        cluster.partition.lose_responses()
    cluster.gate.open(verb, r)
    cluster.partition.wake()


async def happened(cluster: ServedCluster, event: int, passed: int) -> None:
    """Wait until the request of an event has passed the gate. `passed` is the gate's counter before the event.

    `refresh` or `reset` has happened as soon as the consumer fetches from the new leader, from an offset in the
    leader's log. A consumer that is out of range resets its position first.
    """
    r = replica_of(event)
    if verb_of(event) in (Verb.REFRESH, Verb.RESET):
        while cluster.last_fetch is None or not _is_valid(cluster, cluster.last_fetch, r):
            await cluster.partition.change()
    else:
        while cluster.gate.passed == passed:
            await cluster.partition.change()


def _is_valid(cluster: ServedCluster, last: LastFetch, r: int) -> bool:
    return last.replica == r and cluster.partition.has_position(r, last.offset)
