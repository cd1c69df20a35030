"""The results of a schedule on a cluster that count as findings, and the step of the model that shows them."""

from epochfuzz.harness.documents.cluster_records import Ended
from epochfuzz.harness.trace.replay import Run

PROPERTIES = {
    Ended.LOST: {"no-committed-loss", "no-acked-loss"},
    Ended.DIVERGED: {"no-divergence", "convergence"},
    Ended.STUCK: {"hw-due"},
}
FINDINGS = tuple(PROPERTIES)


def unlike(ended: Ended, model: Ended) -> str:
    """Return a text about a schedule that ends on the cluster and in the model with different results."""
    return f"{ended} here, {model} in the model"


def broken_at(run: Run, ended: Ended) -> int | None:
    """Return the first step where the model breaks a property that a cluster broke too, or None.

    If the property is checked at the end, the step is one further than the last event.
    """
    broken = run.first_broken.keys() & PROPERTIES.get(ended, set())
    return min(map(run.shown_at, broken), default=None)
