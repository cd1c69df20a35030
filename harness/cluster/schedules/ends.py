"""The results of a schedule on a cluster that count as findings, and the step of the model that shows them."""

from epochfuzz.harness.documents.cluster_records import Ended
from epochfuzz.harness.trace.replay import Run
from epochfuzz.model.kafka.contract.properties import BY_NAME

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
    """Return the first step at which the model breaks a property as a schedule on a cluster did, or None.

    If the property is checked at the end, the step is one further than the last event.
    """
    broken = run.first_broken.keys() & PROPERTIES.get(ended, set())
    return min((run.first_broken[name] + BY_NAME[name].at_end for name in broken), default=None)
