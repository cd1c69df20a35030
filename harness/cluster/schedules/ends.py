"""How a schedule ends on a cluster."""

from enum import StrEnum


class Ended(StrEnum):
    """How a schedule ended."""

    LOST = "LOST"  # a record that was acknowledged, or that a consumer could read, is not at its offset
    DIVERGED = "DIVERGED"  # replicas do not come to the same log
    STUCK = "STUCK"  # the whole ISR has a record, and its leader does not show it
    KEPT = "KEPT"
    NOT_REACHED = "NOT REACHED"  # the cluster did not do what an event says


FINDINGS = (Ended.LOST, Ended.DIVERGED, Ended.STUCK)


def unlike(ended: Ended, model: Ended) -> str:
    """Say how a schedule ended, and how in the model."""
    return f"{ended} here, {model} in the model"
