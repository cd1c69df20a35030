"""Board: the content of the page at a position (a schedule and a step), and the targets of the page's links."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from epochfuzz.harness.links.position import Position
from epochfuzz.harness.trace import refusal
from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.harness.trace.scenes import Scene
from epochfuzz.harness.trace.story import Moment, Story, story_of
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, event_text, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import Partition

_KEPT = 512  # runs in the cache

# A click adds one run per protocol to the cache. Moving back and forth adds none.
replayed = lru_cache(_KEPT)(replay)


@dataclass(frozen=True)
class Pane:
    """A drawing of the current step (`scene`), and the protocols under which the step looks like this drawing."""

    protocols: tuple[str, ...]
    scene: Scene


@dataclass(frozen=True)
class Mark:
    """An entry of the track, the page's list of steps: a step, and the position after this step."""

    moment: Moment | None  # None for the start
    position: Position

    @property
    def label(self) -> str:
        """The number of the step."""
        return self.moment.label if self.moment else "0"

    @property
    def event(self) -> str:
        """The event of the step."""
        return self.moment.event if self.moment else "start"

    @property
    def broken(self) -> bool:
        """True if a property breaks at the step under any protocol."""
        return self.moment is not None and any(scene.newly_broken for scene in self.moment.scenes)

    @property
    def is_idle(self) -> bool:
        """True if the event of the step is enabled under no protocol."""
        return self.moment is not None and not any(scene.applied for scene in self.moment.scenes)


@dataclass(frozen=True)
class PossibleEvent:
    """An event that at least one protocol enables, and the position after the event.

    `under` has the protocols that enable the event, and `not_under` the other protocols.
    """

    event: str
    under: tuple[str, ...]
    not_under: tuple[str, ...]
    position: Position
    is_next: bool  # whether it is the next event of the current schedule

    @property
    def id(self) -> str:
        """The id of the event's link on the page. All pages use the same id, so the link keeps the keyboard focus."""
        return self.event.replace(" ", "-")


@dataclass(frozen=True)
class ImpossibleEvents:
    """Events that at least one protocol does not enable at the position, all for the same reasons.

    `reasons` has pairs: protocol names, and the reason under these protocols. `everywhere` is True if a single reason
    holds under all protocols of the page.
    """

    events: tuple[str, ...]
    reasons: tuple[tuple[tuple[str, ...], str], ...]
    everywhere: bool


@dataclass(frozen=True)
class BoardVerdict:
    """The result of the whole schedule under a protocol.

    `unexpected` has the broken properties that no known or suspected bug explains.
    """

    run: Run
    unexpected: tuple[str, ...]


@dataclass(frozen=True)
class Branch:
    """A schedule that the user abandoned: the first `shared` events of the current schedule, and then `events`.

    A link to `position` returns to this schedule. A link to `forgotten`, which is the current position
    without this schedule, deletes the schedule.
    """

    shared: int
    events: tuple[str, ...]
    position: Position
    forgotten: Position


class Board:
    """The content of the page at a position."""

    def __init__(self, position: Position) -> None:
        self._asked = position

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The replay of the schedule under each protocol."""
        return tuple(replayed(self._asked.events, each, self._asked.settings) for each in self._asked.protocols)

    @cached_property
    def story(self) -> Story:
        """The replays as a story, which is the input of every drawing."""
        return story_of(*self.runs)

    @cached_property
    def position(self) -> Position:
        """The position that the page shows. Its step is at most `last`."""
        return self._asked.at(min(self._asked.step, len(self.story.moments)))

    @property
    def last(self) -> int:
        """The number of the story's last moment, which is the last step that the page can show."""
        return len(self.story.moments)

    @cached_property
    def track(self) -> tuple[Mark, ...]:
        """The marks of the start and of each step."""
        marks = [Mark(moment, self.position.at(moment.number)) for moment in self.story.moments]
        return (Mark(None, self.position.at(0)), *marks)

    @property
    def current(self) -> Mark:
        """The mark of the current step."""
        return self.track[self.position.step]

    @cached_property
    def panes(self) -> tuple[Pane, ...]:
        """The current step under each protocol. Protocols with equal scenes share a pane."""
        looks: list[tuple[Scene, list[str]]] = []
        for run in self.runs:
            scene = (*run.scenes, run.ending)[self.position.step]
            alike = next((names for shown, names in looks if shown == scene), None)
            if alike is None:
                looks.append((scene, [run.protocol.name]))
            else:
                alike.append(run.protocol.name)
        return tuple(Pane(tuple(names), scene) for scene, names in looks)

    @cached_property
    def verdicts(self) -> tuple[BoardVerdict, ...]:
        """The verdict on the schedule under each protocol."""
        return tuple(
            BoardVerdict(run, tuple(n for n in run.broken if not run.protocol.is_named or run.causes[n].reason is None))
            for run in self.runs
        )

    @cached_property
    def choices(self) -> dict[str, tuple[PossibleEvent, ...]]:
        """The events that at least one protocol enables at the position, by the name of the replica."""
        position, settings = self.position, self.position.settings
        here = position.on_schedule
        following = position.events[position.step : position.step + 1]
        chosen: dict[str, list[PossibleEvent]] = {name: [] for name in REPLICA_NAMES[: settings.replicas]}
        for event in settings.alphabet():
            enabled = tuple(name for name, p in self._states if step(p.copy(), event) == APPLIED)
            if enabled:
                others = tuple(name for name, _ in self._states if name not in enabled)
                choice = PossibleEvent(
                    event_text(event), enabled, others, here.going(event), bytes([event]) == following
                )
                chosen[REPLICA_NAMES[replica_of(event)]].append(choice)
        return {name: tuple(choices) for name, choices in chosen.items()}

    @cached_property
    def refused(self) -> tuple[ImpossibleEvents, ...]:
        """The events that at least one protocol does not enable at the position, in groups with equal reasons."""
        by_reason: dict[tuple[tuple[tuple[str, ...], str], ...], list[str]] = {}
        for event in self.position.settings.alphabet():
            whys: dict[str, list[str]] = {}
            for name, p in self._states:
                if why := refusal.why_not(p, event):
                    whys.setdefault(why, []).append(name)
            if whys:
                reasons = tuple((tuple(names), why) for why, names in whys.items())
                by_reason.setdefault(reasons, []).append(event_text(event))
        everyone = tuple(name for name, _ in self._states)
        return tuple(
            ImpossibleEvents(tuple(events), reasons, [names for names, _ in reasons] == [everyone])
            for reasons, events in by_reason.items()
        )

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The schedules that the user abandoned by choosing another event."""
        return tuple(self._branch(events) for events in self.position.branches)

    def _branch(self, events: bytes) -> Branch:
        shared = self.position.shared_with(events)
        taken, forgotten = self.position.along(events), self.position.without_branch(events)
        return Branch(shared, tuple(schedule_texts(events[shared:])), taken, forgotten)

    @cached_property
    def _states(self) -> list[tuple[str, Partition]]:
        number = min(self.position.step, len(self.position.events))
        return [(run.protocol.name, run.steps[number - 1].state if number else run.start) for run in self.runs]


def broken_by(position: Position, protocol: Protocol, settings: Configuration) -> dict[str, int]:
    """Return the properties that a protocol breaks up to a position, each with the number of the step that broke it."""
    return replayed(position.here, protocol, settings).first_broken
