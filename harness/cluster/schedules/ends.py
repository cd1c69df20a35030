"""The results of a schedule on a cluster that count as findings."""

from epochfuzz.harness.documents.cluster_records import Ended

FINDINGS = (Ended.LOST, Ended.DIVERGED, Ended.STUCK)


def unlike(ended: Ended, model: Ended) -> str:
    """Return a text about a schedule that ends on the cluster and in the model with different results."""
    return f"{ended} here, {model} in the model"
