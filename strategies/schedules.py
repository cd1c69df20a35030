"""Strategies for events and schedules, as the bytes of model/events.py.

Not every event drawn is enabled where it stands. Those that are not are no-ops, and so shrinking can take any event
out of a schedule, or put another in its place, and is left with a schedule.
"""

from hypothesis import strategies as st

from model import events
from model.configuration import Configuration

# What happens in a healthy partition, and what brings one back to health. All else disturbs.
PROGRESS = (
    events.RECEIVE,
    events.FETCH,
    events.NOTIFY,
    events.RESTART,
    events.PRODUCE,
    events.FLUSH,
    events.CHECKPOINT,
)


def simplest_first(settings: Configuration) -> bytes:
    """The events that a configuration can enable: those that finish something, that begin something, that disturb.

    Hypothesis sorts what it can. In this order answers arrive, and decisions are heard of, as soon as they can, so
    that schedules which differ only in the order of independent events shrink to one.
    """
    order = [*PROGRESS, *(verb for verb in range(len(events.VERBS)) if verb not in PROGRESS)]
    alphabet: list[int] = list(settings.alphabet())
    alphabet.sort(key=lambda event: order.index(events.verb_of(event)))
    return bytes(alphabet)


def single_events(settings: Configuration) -> st.SearchStrategy[int]:
    """An event that the configuration can enable."""
    return st.sampled_from(simplest_first(settings))


def schedules(settings: Configuration, *, max_size: int = 50) -> st.SearchStrategy[bytes]:
    """A schedule of such events; simpler is shorter."""
    return st.lists(single_events(settings), max_size=max_size).map(bytes)
