"""Find the schedule that breaks the property, after a search on Spark has reached a violation.

The module marks, level by level and backwards, the states that lead to the violation. Then, forwards from the initial
state, it takes the first event to a marked state. engine/explore/retrace.py finds the same schedule in memory.
"""

from epochfuzz.harness.campaign.search.expander import Expander
from epochfuzz.harness.campaign.search.levels import Levels
from epochfuzz.harness.engine.explore.expansion import BREAKING, NEW
from epochfuzz.harness.engine.explore.explore import executions
from epochfuzz.harness.findings.search_request import SearchRequest
from epochfuzz.model.kafka.controller.controller import forget_superseded


def shortest(asked: SearchRequest, levels: Levels, expander: Expander, last: int) -> bytes:
    """Return the first of the shortest schedules that break the property. It has `last` + 1 events.

    Its last event starts from a state of level `last`.
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
