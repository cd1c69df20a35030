"""Play random schedules on a cluster. The model chooses the schedules. Findings are shrunk and saved as cases."""

import itertools
import time
from collections.abc import Callable

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cluster.schedules.beside import beside, settings_of
from epochfuzz.harness.cluster.schedules.choose import ClusterChooser
from epochfuzz.harness.cluster.schedules.ends import FINDINGS
from epochfuzz.harness.cluster.schedules.fuzzed import ClusterFinding, Fuzzed
from epochfuzz.harness.cluster.schedules.fuzzed_case import case_of
from epochfuzz.harness.cluster.schedules.player import Player
from epochfuzz.harness.cluster.schedules.shorten import shortened
from epochfuzz.harness.conform.run.selection import Selection
from epochfuzz.harness.documents.cluster_records import Ended, Playing
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


class Fuzzer:
    """Play the schedules of a seed. `keep` receives the case of the first finding of each kind."""

    def __init__(
        self,
        player: Player,
        protocol: Protocol,
        settings: Configuration,
        seed: int,
        keep: Callable[[Case], None],
        selection: Selection = Selection.RANDOM,
    ) -> None:
        self.result = Fuzzed()
        self._player, self._protocol, self._settings, self._seed = player, protocol, settings, seed
        self._keep = keep
        self._chooser = ClusterChooser(protocol, settings, seed, selection)
        self._kinds: set[tuple[Ended, Ended]] = set()

    def run(self, seconds: float, say: Callable[[str], None]) -> Fuzzed:
        """Play schedules for `seconds`. A schedule in progress is played to its end."""
        began = time.monotonic()
        turns = itertools.count()
        while time.monotonic() - began < seconds:
            chosen = self._chooser.turn(next(turns))
            self.result.drawn += self._chooser.drawn_for_one
            if chosen is not None:
                self._one(*chosen, say)
                self.result.seconds = time.monotonic() - began
        return self.result

    def _one(self, number: int, events: bytes, say: Callable[[str], None]) -> None:
        playing = self._play(events)
        model = self._model(events, playing)
        self.result.add(number, len(playing.steps), playing.ended, playing.why, model)
        kind = playing.ended, model
        if playing.ended in FINDINGS and kind not in self._kinds:
            say(f"schedule {number}: {playing.ended}: {playing.why}; shrinking {len(events)} events")
            finding = self._shrunk(number, events, playing)
            self._kinds.add(kind)
            self.result.findings.append(finding)
            self._keep(case_of(finding, self._protocol, self._settings, self._seed))
            say(f"  {'; '.join(schedule_texts(finding.events))} (the model: {finding.model})")

    def _play(self, events: bytes) -> Playing:
        return self._player.play(settings_of(self._settings), schedule_texts(events))

    def _model(self, events: bytes, playing: Playing) -> Ended:
        return beside(events, self._settings, self._protocol, playing).ended

    def _shrunk(self, number: int, events: bytes, playing: Playing) -> ClusterFinding:
        shrunk, best, replays = shortened(events, playing, self._play)
        self.result.replays += replays
        return ClusterFinding(number, shrunk, len(events), best.ended, best.why, self._model(shrunk, best))
