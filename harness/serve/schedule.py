"""Play a schedule on the endpoint. Events of brokers do not wait. Events of clients wait for a client's request."""

from collections.abc import Callable, Iterable

from epochfuzz.harness.serve import client_events
from epochfuzz.harness.serve.listeners import Listeners
from epochfuzz.harness.trace.refusal import why_not
from epochfuzz.model.kafka.vocabulary.events import event_text, verb_of


async def play(listeners: Listeners, schedule: Iterable[int], report: Callable[[str], None]) -> None:
    """Play a schedule, and report each event. Afterwards the gate is free: the cluster admits all requests."""
    cluster = listeners.cluster
    for event in schedule:
        if verb_of(event) in client_events.ROLES:
            reason = client_events.why_not(cluster, event)
            if not reason:
                report(f"{event_text(event)}: waiting for the client")
                passed = cluster.gate.passed
                await client_events.steer(listeners, event)
                await client_events.happened(cluster, event, passed)
        else:
            reason = await apply(listeners, event)
        report(reported(event, reason))
    cluster.shown.clear()
    cluster.gate.is_free = True
    cluster.partition.wake()


def reported(event: int, reason: str) -> str:
    """Return the line about an event. `reason` says why the event was not enabled, and is empty if it happened."""
    return f"{event_text(event)}: not enabled, because {reason}" if reason else event_text(event)


async def apply(listeners: Listeners, event: int) -> str:
    """Apply an event of a broker or of the controller, and end the connections of dead brokers.

    Returns the reason why the event is not enabled, or an empty text.
    """
    reason = why_not(listeners.cluster.partition.state, event)
    listeners.cluster.partition.apply(event)
    await listeners.end_those_of_dead_brokers()
    return reason


async def keep_healthy(listeners: Listeners) -> None:
    """Let followers replicate after each change, as long as the gate is free. Never returns."""
    while True:
        if listeners.cluster.gate.is_free:
            listeners.cluster.partition.replicate()
        await listeners.cluster.partition.change()
