"""What remains to be found: what a campaign has covered, how likely anything new is, and what it has not reached."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from epochfuzz.harness.campaign.walks.coverage import in_words
from epochfuzz.harness.campaign.walks.outcome import Outcome
from epochfuzz.harness.search.estimate import CONFIDENCE, discovery_curve

_SHOWN = 3  # unreached situations for each protocol, where people read; JSON and tables have all


def remaining_json(outcome: Outcome) -> dict[str, Any]:
    """The JSON form, as keys of the document of a campaign."""
    names = [protocol.name for protocol in outcome.parameters.protocols]
    return {
        "situations": {name: len(met.situations) for name, met in zip(names, outcome.tally.met, strict=True)},
        "unreached": {name: list(map(in_words, numbers)) for name, numbers in outcome.unreached.items()},
        "estimate": asdict(outcome.estimate) | {"confidence": CONFIDENCE},
        "discovery": [asdict(point) for point in discovery_curve(outcome.tally)],
        "checked": asdict(outcome.checked),
    }


def remaining_lines(outcome: Outcome) -> Iterator[str]:
    """Lines for people."""
    if outcome.parameters.engine == "walk":
        yield from _situations(outcome)
    checked = outcome.checked
    were = "block was" if checked.blocks == 1 else "blocks were"
    yield f"{checked.blocks} {were} walked twice, {checked.elsewhere} of them by two processes, to the same end"


def _situations(outcome: Outcome) -> Iterator[str]:
    """What was met and what was not; state machines do not count that."""
    estimate = outcome.estimate
    for protocol, met in zip(outcome.parameters.protocols, outcome.tally.met, strict=True):
        unreached = outcome.unreached[protocol.name]
        yield (
            f"{protocol.name}: {len(met.situations):,} situations met; {len(unreached)} of those that two replicas"
            " reach with two records and two elections were not"
        )
        yield from (f"  {in_words(situation)}" for situation in unreached[:_SHOWN])
        if len(unreached) > _SHOWN:
            yield f"  … and {len(unreached) - _SHOWN} more, in the table of situations"
    yield (
        f"One more such schedule shows a new situation or kind of failure with probability {estimate.probability:.1e}"
        f" ({CONFIDENCE:.0%} interval: {estimate.low:.1e} to {estimate.high:.1e})"
    )
    if outcome.stopped_unstable:
        yield f"not stable: the interval still reaches above {outcome.parameters.stable:g}; go on for longer"
