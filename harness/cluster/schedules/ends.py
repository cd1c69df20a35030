"""The outcomes of a schedule on a cluster."""

from epochfuzz.harness.documents.cluster_records import Ended

FINDINGS = (Ended.LOST, Ended.DIVERGED, Ended.STUCK)


def unlike(ended: Ended, model: Ended) -> str:
    """Describe outcomes that differ between the cluster and the model."""
    return f"{ended} here, {model} in the model"
