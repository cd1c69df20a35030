"""The results of schedules on a cluster that count as findings, and the steps of these violations in the model."""

from epochfuzz.harness.documents.cluster_records import Ended
from epochfuzz.harness.trace.replay import Run

PROPERTIES = {
    Ended.LOST: {"no-committed-loss", "no-acked-loss"},
    Ended.DIVERGED: {"no-divergence", "convergence"},
    Ended.STUCK: {"hw-due"},
}
FINDINGS = tuple(PROPERTIES)


def unlike(ended: Ended, model: Ended) -> str:
    """Return a text that names a schedule's result on the cluster and its different result in the model."""
    return f"{ended} here, {model} in the model"


def broken_at(run: Run, ended: Ended) -> int | None:
    """Return the first step where the model breaks a property that the cluster has broken too, or None.

    The cluster's result `ended` tells the properties that the cluster has broken. A property that is checked at the end
    breaks one step after the last event.
    """
    broken = run.first_broken.keys() & PROPERTIES.get(ended, set())
    return min(map(run.shown_at, broken), default=None)
