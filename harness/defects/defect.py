"""A defect: a mistake that a developer could make, kept as the text of a rule and the text that takes its place."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Defect:
    """A mistake: `wrong` in place of `right`, in one module of the model; `jira` names it where Kafka made it.

    `protocol` is the one that the mistake is made in. It holds every property without it, except where the mistake
    is `in_judging`, in what is remembered and judged, which only a protocol known to be flawed can show.
    """

    name: str
    mistake: str
    module: str
    right: str
    wrong: str
    jira: str | None = None
    protocol: str = "kip-320"
    in_judging: bool = False
