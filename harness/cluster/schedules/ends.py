"""The outcomes of a schedule on a cluster."""

from enum import StrEnum


class Ended(StrEnum):
    """The outcome of a schedule."""

    LOST = "LOST"  # a record that was acknowledged or readable is missing at its offset
    DIVERGED = "DIVERGED"  # the replicas' logs do not become equal
    STUCK = "STUCK"  # the whole ISR has a record, but consumers cannot read it
    KEPT = "KEPT"
    NOT_REACHED = "NOT REACHED"  # the cluster did not carry out an event


FINDINGS = (Ended.LOST, Ended.DIVERGED, Ended.STUCK)


def unlike(ended: Ended, model: Ended) -> str:
    """Describe a different outcome on the cluster and in the model."""
    return f"{ended} here, {model} in the model"
