"""A story: the replays of one schedule under several protocols, aligned step by step, with their first difference.

Every drawing of a whole schedule is made from a story: in the terminal, as SVG, in the report, and as a sequence
diagram. The content of each step is a scene (scenes.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from epochfuzz.harness.trace.replay import Run, Step
from epochfuzz.harness.trace.scenes import HEALED, Scene, as_sentence
from epochfuzz.model.kafka.contract.observation import observe


@dataclass(frozen=True)
class Parting:
    """The first step where two runs of one schedule look different, and the effects that differ."""

    number: int
    event: str
    under: tuple[tuple[str, str], tuple[str, str]]  # each protocol, and the effects that the step has only under it

    @property
    def sentence(self) -> str:
        """The number and the event of the step, and its different effects under each protocol, as text."""
        return f"Step {self.number}, {self.event}: " + " ".join(f"Under {name}: {why}" for name, why in self.under)


@dataclass(frozen=True)
class Moment:
    """One step of a story: its scene under each protocol, or a single scene if all scenes are equal.

    If a property breaks at the end, the story has one more moment. It shows the partition after all faults have
    stopped.
    """

    number: int
    event: str
    scenes: tuple[Scene, ...]
    parts: bool  # whether the protocols look different here for the first time

    @property
    def is_step(self) -> bool:
        """True if the moment is an event of the schedule."""
        return self.event != HEALED

    @property
    def label(self) -> str:
        """The number of the step, or the name of the ending."""
        return str(self.number) if self.is_step else self.event

    @property
    def shows_both(self) -> bool:
        """True if the protocols are drawn separately."""
        return len(self.scenes) > 1


@dataclass(frozen=True)
class Story:
    """Replays of one schedule, with the moments that a drawing shows. A drawing shows at most two runs.

    `parting` is the first difference between the first run and any other run, or None.
    """

    runs: tuple[Run, ...]
    opening: Scene
    moments: tuple[Moment, ...]
    parting: Parting | None

    @property
    def longest_log(self) -> int:
        """The number of offsets that a drawing needs: the length of the longest log before or after any step."""
        scenes = [scene for moment in self.moments for scene in moment.scenes]
        return max((max(r.leo, r.previous_leo) for scene in scenes for r in scene.replicas), default=0)


def story_of(run: Run, *beside: Run) -> Story:
    """Return the story of a run and of other runs of the same schedule."""
    runs = (run, *beside)
    partings = filter(None, (parting(run, other) for other in beside))
    parts_at = min(partings, key=lambda each: each.number, default=None)
    steps = [*zip(*(each.scenes[1:] for each in runs), strict=True)]
    if any(each.ends_broken for each in runs):
        steps.append(tuple(each.ending for each in runs))
    return Story(runs, run.scenes[0], tuple(_moment(scenes, parts_at) for scenes in steps), parts_at)


def _moment(scenes: tuple[Scene, ...], parts_at: Parting | None) -> Moment:
    first, *others = scenes
    shown = scenes if any(other != first for other in others) else (first,)
    return Moment(first.number, first.event, shown, parts_at is not None and first.number == parts_at.number)


def most_contrasting(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return two neighbouring runs to show: the first breaks a property, and the second breaks none.

    Returns the first pair of this kind. If there is no pair of this kind, the function returns the first two runs.
    """
    for broken, held in pairwise(runs):
        if broken.broken and not held.broken:
            return broken, held
    return tuple(runs[:2])


def parting(run_a: Run, run_b: Run) -> Parting | None:
    """Return the first observable difference between two runs of the same schedule, or None if there is none.

    The comparison skips fields that only one of the protocols has. It also skips leader epoch caches: some protocols
    fill them differently from the start, which matters only once a log or a leader differs.
    """
    for scene_a, scene_b, step_a, step_b in zip(
        run_a.scenes[1:], run_b.scenes[1:], run_a.steps, run_b.steps, strict=True
    ):
        if not _look_alike(step_a, step_b):
            under_a = (run_a.protocol.name, _only_in(scene_a, scene_b))
            under_b = (run_b.protocol.name, _only_in(scene_b, scene_a))
            return Parting(scene_a.number, scene_a.event, (under_a, under_b))
    return None


def _only_in(scene: Scene, other: Scene) -> str:
    return as_sentence([clause for clause in scene.clauses if clause not in other.clauses] or ["nothing more"])


def _look_alike(step_a: Step, step_b: Step) -> bool:
    return step_a.applied == step_b.applied and _same(observe(step_a.state), observe(step_b.state))


def _same(part_a: dict[str, Any], part_b: dict[str, Any]) -> bool:
    """Return whether two observations are equal in all common parts except the epoch caches."""
    for key in part_a.keys() & part_b.keys() - {"epochs"}:
        a, b = part_a[key], part_b[key]
        if not (_same(a, b) if isinstance(a, dict) else a == b):
            return False
    return True
