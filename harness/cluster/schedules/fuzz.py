"""Random schedules on a cluster: drawn as walks draw them, shrunk by replay, and kept as cases.

A cluster plays some schedules a minute, so none of its time is for events that do nothing, or for schedules like many
before: the model of the release, a thousand times faster, leaves out what does nothing, and of many schedules chooses
one to play (ModelFuzz: Gulcan et al., 2024). What it has no part in is the verdict.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from epochfuzz.harness.cases.case import Case, Expectation
from epochfuzz.harness.cluster.schedules.beside import Beside, beside, settings_of
from epochfuzz.harness.cluster.schedules.events import EVENTS
from epochfuzz.harness.cluster.schedules.play import Ended, Playing
from epochfuzz.harness.cluster.schedules.player import Player
from epochfuzz.harness.engine.shrink.delta_debugging import delta_debugged
from epochfuzz.harness.engine.walk.generate import Deck, deck_for, schedule
from epochfuzz.harness.witness.replay import Run, replay
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, schedule_texts, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.documents import evidence

_MOST_EVENTS = 24  # of a schedule: what happens in the first lives of a partition
_LEAST_EVENTS = 4
_MOST_DRAWN = 80  # of which that many events are to come
_DRAWN_FOR_ONE = 100  # schedules, of which one is played
_MOST_REPLAYS = 40  # to shrink one finding
_FINDINGS = (Ended.LOST, Ended.DIVERGED, Ended.STUCK)
# Each of these waits for the end of a session, or for a process to start: one of a schedule, so that most of the time
# is not spent in waiting.
_SLOW = frozenset({Verb.EXPIRE, Verb.CRASH, Verb.RESTART, Verb.SHRINK, Verb.SHUTDOWN})
_MOST_SLOW = 2


@dataclass(frozen=True)
class Finding:
    """A schedule in which something was lost, diverged or got stuck. `model` is what the model makes of it."""

    number: int
    events: bytes
    shrunk_from: int
    playing: Playing
    model: Beside

    def plain(self) -> "evidence.FuzzedFinding":
        """Return it as plain data."""
        return {
            "schedule": self.number,
            "ended": self.playing.ended,
            "why": self.playing.why,
            "events": schedule_texts(self.events),
            "shrunk_from": self.shrunk_from,
            "model": self.model.ended,
        }


@dataclass
class Fuzzed:
    """What a run has come to."""

    drawn: int = 0  # schedules, of which some were played
    schedules: int = 0
    events: int = 0
    seconds: float = 0.0
    replays: int = 0  # to shrink
    ends: Counter[Ended] = field(default_factory=Counter)
    unlike: Counter[str] = field(default_factory=Counter)  # cluster and model, where they end otherwise
    findings: list[Finding] = field(default_factory=list)
    not_reached: list[str] = field(default_factory=list)

    def plain(self) -> "evidence.FuzzedNumbers":
        """Return it as plain data."""
        return {
            "drawn": self.drawn,
            "schedules": self.schedules,
            "events": self.events,
            "seconds": round(self.seconds, 1),
            "events_per_second": round(self.events / self.seconds, 2) if self.seconds else None,
            "replays_to_shrink": self.replays,
            "ends": {ended.value: self.ends[ended] for ended in Ended},
            "unlike_the_model": dict(self.unlike),
            "findings": [each.plain() for each in self.findings],
            "not_reached": self.not_reached,
        }


class Fuzzer:
    """Plays schedule after schedule of a seed. `keep` gets the case of each finding of a kind that is new."""

    def __init__(
        self, player: Player, protocol: Protocol, settings: Configuration, seed: int, keep: Callable[[Case], None]
    ) -> None:
        self.result = Fuzzed()
        self._player, self._protocol, self._settings, self._seed = player, protocol, settings, seed
        self._keep = keep
        self._deck: Deck = deck_for(KAFKA, settings, [protocol])
        self._kinds: set[tuple[Ended, Ended]] = set()
        self._broken: set[frozenset[str]] = set()  # what schedules broke in the model that were played
        self._met: Counter[int] = Counter()  # how many of them met a goal

    def run(self, seconds: float, say: Callable[[str], None]) -> Fuzzed:
        """Go on for so long; what is under way then is played to its end."""
        began = time.monotonic()
        first = 0
        while time.monotonic() - began < seconds:
            number, events = self.chosen(range(first, first + _DRAWN_FOR_ONE))
            first += _DRAWN_FOR_ONE
            if len(events) >= _LEAST_EVENTS:
                self._one(number, events, say)
                self.result.seconds = time.monotonic() - began
        return self.result

    def chosen(self, numbers: range) -> tuple[int, bytes]:
        """Return one of some schedules: one that breaks something in the model, or else one that meets most goals
        that few have met so far.
        """
        self.result.drawn += len(numbers)
        best, most = (numbers[0], b""), -1.0
        for number in numbers:
            events, run = self.drawn(number)
            kind = frozenset(run.broken)
            if kind and kind not in self._broken:
                self._broken.add(kind)
                return number, events
            worth = sum(1 / (1 + self._met[goal]) for goal in _goals(run))
            if worth > most:
                best, most, met = (number, events), worth, _goals(run)
        self._met.update(met)
        return best

    def drawn(self, number: int) -> tuple[bytes, Run]:
        """Return a schedule: events that do something in the model, few of them slow, and none that is not offered."""
        offered = [event for event in schedule(self._seed, number, self._deck) if verb_of(event).text in EVENTS]
        kept, slow = bytearray(), 0
        for event in offered[:_MOST_DRAWN]:
            slow += verb_of(event) in _SLOW
            if verb_of(event) not in _SLOW or slow <= _MOST_SLOW:
                kept.append(event)
        applied = bytes(step.event for step in self._replay(bytes(kept)).steps if step.applied)[:_MOST_EVENTS]
        return applied, self._replay(applied)

    def _replay(self, events: bytes) -> Run:
        return replay(events, self._protocol, self._settings)

    def _one(self, number: int, events: bytes, say: Callable[[str], None]) -> None:
        playing = self._play(events)
        result, model = self.result, self._beside(events, playing)
        result.schedules += 1
        result.events += len(playing.steps)
        result.ends[playing.ended] += 1
        if playing.ended is Ended.NOT_REACHED:
            result.not_reached.append(f"schedule {number}: {playing.why}")
        elif playing.ended is not model.ended:
            result.unlike[f"{playing.ended} here, {model.ended} in the model"] += 1
        kind = playing.ended, model.ended
        if playing.ended in _FINDINGS and kind not in self._kinds:
            say(f"schedule {number}: {playing.ended}: {playing.why}; shrinking {len(events)} events")
            finding = self._shrunk(number, events, playing)
            self._kinds.add(kind)
            result.findings.append(finding)
            self._keep(self._case(finding))
            say(f"  {'; '.join(schedule_texts(finding.events))} (the model: {finding.model.ended})")

    def _play(self, events: bytes) -> Playing:
        return self._player.play(settings_of(self._settings), schedule_texts(events))

    def _beside(self, events: bytes, playing: Playing) -> Beside:
        return beside(events, self._settings, self._protocol, playing)

    def _shrunk(self, number: int, events: bytes, playing: Playing) -> Finding:
        """Shrink by replay on the cluster: a schedule counts that ends as the first did."""
        best, left = playing, _MOST_REPLAYS

        def ends_so(tried: bytes) -> bytes | None:
            nonlocal best, left
            if left == 0 or not tried:
                return None
            left -= 1
            self.result.replays += 1
            again = self._play(tried)
            if again.ended is not playing.ended:
                return None
            best = again
            return tried

        shrunk = delta_debugged(events, ends_so)
        return Finding(number, shrunk, len(events), best, self._beside(shrunk, best))

    def _case(self, finding: Finding) -> Case:
        run = self._replay(finding.events)
        name = self._protocol.name
        return Case(
            id=f"cluster-{finding.playing.ended.lower()}-{self._seed}-{finding.number}",
            why=(
                f"Found on a cluster of {name}, by a random schedule: {finding.playing.ended}."
                f" {finding.playing.why}. In the model: {finding.model.ended}."
            ),
            settings=self._settings,
            events=finding.events,
            expect={name: Expectation(tuple(run.broken), run.at, tuple(run.permitted) or None)},
            provenance={
                "seed": self._seed,
                "schedule": finding.number,
                "shrunk_from": finding.shrunk_from,
                "certified_minimal": False,
                "fingerprint": {name: run.fingerprint},
            },
        )


def _goals(run: Run) -> list[int]:
    """Return the goals that a run has met, as bits."""
    met = int(run.steps[-1].state.goals) if run.steps else 0
    return [bit for bit in range(met.bit_length()) if met >> bit & 1]


def told(result: Fuzzed) -> str:
    """Return what a run has come to, in a line."""
    ends = ", ".join(f"{count} {ended}" for ended, count in sorted(result.ends.items()) if count)
    speed = result.events / result.seconds if result.seconds else 0
    return (
        f"{result.schedules} schedules, {result.events} events in {result.seconds:.0f} s ({speed:.1f} a second, with"
        f" {result.replays} replays to shrink): {ends}"
    )
