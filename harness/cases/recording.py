"""Show the state after a schedule and the events that are enabled next, and make a case of the schedule.

The command `new-case` builds the schedule event by event. The command `play` passes a complete schedule.
"""

from collections.abc import Iterable

from epochfuzz.harness.cases.case import Case, Expectation
from epochfuzz.harness.cases.verdict import rewritten
from epochfuzz.harness.trace import refusal
from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.harness.trace.scenes import Scene
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, Protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import Partition


class Recording:
    """A schedule under construction. `protocol` is the protocol under which the schedule is replayed."""

    def __init__(self, protocol: Protocol, settings: Configuration) -> None:
        self.protocol = protocol
        self.settings = settings
        self.events = bytearray()

    @property
    def run(self) -> Run:
        """A replay of the schedule so far."""
        return replay(self.events, self.protocol, self.settings)

    @property
    def state(self) -> Partition:
        """The state after the schedule so far."""
        run = self.run
        return run.steps[-1].state if run.steps else run.start

    @property
    def scene(self) -> Scene:
        """The drawable description of the last step. Without any step, the scene shows the state at the start."""
        return self.run.scenes[-1]

    def enabled(self) -> list[int]:
        """Return the events that are enabled now, sorted by their event bytes."""
        state = self.state
        return [event for event in self.settings.alphabet() if step(state.copy(), event) == APPLIED]

    def why_not(self, event: int) -> str:
        """Return the reason why an event is not enabled now. For an enabled event, the text is empty."""
        return refusal.why_not(self.state, event)

    def case(self, slug: str, why: str) -> Case:
        """Return a case for the schedule so far. The case expects the current results of replays.

        The replays are under each reference design (a protocol such as `kip-101`) and under `self.protocol`.

        The case's `why` is the text `why`. If this text is empty, `why` is a description of the run, step by step.
        """
        return recorded(slug, why or self.run.description, bytes(self.events), self.settings, [self.protocol])


def recorded(slug: str, why: str, events: bytes, settings: Configuration, protocols: Iterable[Protocol]) -> Case:
    """Return a case for a schedule. The case expects the current results of replays.

    The replays are under each reference design (a protocol such as `kip-101`) and under `protocols`.
    """
    names = dict.fromkeys([*GENERATIONS, *(protocol.name for protocol in protocols)])
    return rewritten(Case(slug, why, settings, events, expect={name: Expectation(()) for name in names}))
