"""A recording: a schedule put together one enabled event after the other, to become a case."""

from harness import refusal
from harness.case import Case, Expectation
from harness.judgement import rewritten
from harness.narrative import Scene, narrate
from harness.replay import Run, replay
from model.configuration import Configuration
from model.protocols import GENERATIONS, Protocol
from model.state import Partition
from model.step import step


class Recording:
    """A schedule in the making, under the protocol whose state is looked at."""

    def __init__(self, protocol: Protocol, settings: Configuration) -> None:
        self.protocol = protocol
        self.settings = settings
        self.events = bytearray()

    @property
    def run(self) -> Run:
        """The schedule so far, replayed."""
        return replay(self.events, self.protocol, self.settings)

    @property
    def state(self) -> Partition:
        """Where the schedule has led."""
        run = self.run
        return run.steps[-1].state if run.steps else run.start

    @property
    def scene(self) -> Scene:
        """The last step, or the start."""
        return narrate(self.run)[-1]

    def enabled(self) -> list[int]:
        """The events that would change something now, in the order of the alphabet."""
        state = self.state
        return [event for event in self.settings.alphabet() if step(state.copy(), event)]

    def why_not(self, event: int) -> str:
        """Why an event is not enabled; empty where it is."""
        return refusal.why_not(self.state, event)

    def case(self, slug: str, why: str) -> Case:
        """The case, with what every generation makes of it expected. Without a `why`, it tells the story."""
        protocols = dict.fromkeys([*GENERATIONS, self.protocol.name])
        return rewritten(
            Case(
                id=slug,
                why=why or " ".join(f"({scene.number}) {scene.sentence}" for scene in narrate(self.run)[1:]),
                settings=self.settings,
                events=bytes(self.events),
                expect={name: Expectation(()) for name in protocols},
            )
        )
