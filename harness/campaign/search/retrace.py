"""Find the schedule that breaks the property, after a search on Spark has reached a violation.

The module first goes back from the last level to the first, and marks the states that lead to the violation. Then it
goes forward from the initial state. At each state, it takes the first event that leads to a marked state.
engine/explore/retrace.py finds the same schedule in memory.
"""

from epochfuzz.harness.campaign.search.expander import Expander
from epochfuzz.harness.campaign.search.levels import Levels
from epochfuzz.harness.engine.explore.expansion import BREAKING, NEW
from epochfuzz.harness.engine.explore.explore import executions
from epochfuzz.harness.findings.search_request import SearchRequest
from epochfuzz.model.kafka.controller.controller import forget_superseded


def shortest(asked: SearchRequest, levels: Levels, expander: Expander, last: int) -> bytes:
    """Return the shortest schedule that breaks the property: among several, the first in byte order.

    The schedule has `last` + 1 events. All events but the last lead to a state of level `last`. The last event breaks
    the property.
    """
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
