"""Show the coverage of a campaign: the situations that no schedule reached, and the chance to find anything new.

A situation is a kind of state and event (coverage.py).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from epochfuzz.harness.campaign.walks.coverage import in_words
from epochfuzz.harness.campaign.walks.outcome import ScheduleOutcome
from epochfuzz.harness.engine.explore.estimate import discovery_curve, estimate_json
from epochfuzz.harness.text.plain import fields_of

if TYPE_CHECKING:
    from epochfuzz.harness.documents import walks as documents


def remaining_json(outcome: ScheduleOutcome) -> "documents.Remaining":
    """Return a campaign's coverage, and the estimated chance to find anything new, as keys for a JSON document."""
    names = [protocol.name for protocol in outcome.parameters.protocols]
    return {
        "situations": {name: len(met.situations) for name, met in zip(names, outcome.tally.met, strict=True)},
        "unreached": {name: list(map(in_words, numbers)) for name, numbers in outcome.unreached.items()},
        "estimate": estimate_json(outcome.estimate),
        "discovery": [fields_of(point) for point in discovery_curve(outcome.tally)],
        "checked": fields_of(outcome.checked),
    }


def remaining_lines(outcome: ScheduleOutcome) -> Iterator[str]:
    """Yield the coverage of a campaign, and the estimated chance to find anything new, as lines of text.

    Yields nothing for state machines, because they count no situations.
    """
    if outcome.parameters.engine != "walk":
        return
    estimate = outcome.estimate
    for protocol, met in zip(outcome.parameters.protocols, outcome.tally.met, strict=True):
        unreached = outcome.unreached[protocol.name]
        yield (
            f"{protocol.name}: {len(met.situations):,} situations met; {len(unreached)} situations that two replicas"
            " reach with two records and two elections were not met"
        )
    yield f"One more such schedule shows a new situation or kind of failure with probability {estimate.text}"
    if outcome.stopped_unstable:
        yield f"not stable, because the interval reaches above {outcome.parameters.stable:g}; run longer"
