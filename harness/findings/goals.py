"""List the coverage goals that a run has to reach. For example, a run without a truncation does not test truncation."""

from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.state import initial


def asked_for(protocol: Protocol, settings: Configuration) -> list[str]:
    """Return the names of the coverage goals that a run of the protocol has to reach, under these settings."""
    p = initial(protocol, settings)
    return [goal.text for goal in Goal if goal.asked_for is not None and goal.asked_for(p)]
