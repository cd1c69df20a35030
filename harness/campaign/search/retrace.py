"""Retrace: the least of the shortest schedules that break a property, as search/retrace.py finds it in memory.

Level by level, backwards, it is found out which states lead towards a broken one; then, forwards from the state that
every schedule starts from, the first event that leads to one of them is taken.
"""

from epochfuzz.harness.campaign.search.expander import Expander
from epochfuzz.harness.campaign.search.levels import Levels
from epochfuzz.harness.engine.explore.expansion import BREAKING, NEW
from epochfuzz.harness.engine.explore.explore import executions
from epochfuzz.harness.findings.asked import Asked
from epochfuzz.model.kafka.controller.controller import forget_superseded


def shortest(asked: Asked, levels: Levels, expander: Expander, last: int) -> bytes:
    """Return the schedule of one event more than `last`, the last level from which an event breaks the property."""
    levels.breaking(last)
    for level in range(last - 1, 0, -1):
        levels.leading(level)
    (execution,) = executions([asked.protocol], asked.settings, b"")
    schedule = bytearray()
    for level in range(1, last + 2):
        found = expander.successors(expander.key_as_it_is(execution.state), NEW if level <= last else BREAKING)
        leads = levels.leads(level, found.keys) if level <= last else {key.tobytes() for key in found.keys}
        event = next(int(via) for via, key in zip(found.events, found.keys, strict=True) if key.tobytes() in leads)
        execution.apply(event)
        forget_superseded(execution.state)
        schedule.append(event)
    return bytes(schedule)
