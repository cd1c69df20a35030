"""Play random schedules, chosen by the model, on a Kafka cluster. Shrink findings, and save them as cases."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cluster.schedules.choose import ClusterChooser
from epochfuzz.harness.cluster.schedules.ends import FINDINGS
from epochfuzz.harness.cluster.schedules.fuzzed import Fuzzed, as_json, from_json
from epochfuzz.harness.cluster.schedules.fuzzed_case import case_of
from epochfuzz.harness.cluster.schedules.player import Player
from epochfuzz.harness.cluster.schedules.playground import Playground
from epochfuzz.harness.conform.run.selection import Selection
from epochfuzz.harness.jobs.unfinished import Request, UnfinishedRun
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


def request(release: str, protocol: Protocol, settings: Configuration, seconds: float, selection: Selection) -> Request:
    """Return all parameters of a run except the seed. They identify the progress file of the run."""
    parameters = {
        "release": release,
        "protocol": protocol.name,
        "configuration": asdict(settings),
        "seconds": seconds,
        "selection": str(selection),
    }
    return Request("cluster-fuzz", parameters)


class Fuzzer:
    """Plays the schedules of a seed on a cluster. `keep` receives a case for the first finding of each kind.

    The kind of a finding consists of its results on the cluster and in the model. `unfinished` is the progress file, or
    None. The run resumes from this file, and saves its progress there.
    """

    def __init__(
        self,
        player: Player,
        protocol: Protocol,
        settings: Configuration,
        seed: int,
        keep: Callable[[Case], object] | None,
        selection: Selection = Selection.RANDOM,
        unfinished: UnfinishedRun | None = None,
    ) -> None:
        self.result = Fuzzed()
        self._turn = 0
        self._playground = Playground(player, protocol, settings)
        self.protocol, self.settings, self.seed = protocol, settings, seed
        self._keep = keep
        self._chooser = ClusterChooser(protocol, settings, seed, selection)
        self._unfinished = unfinished
        if unfinished is not None:
            unfinished.load(self._resume)
        self._kinds = {(each.ended, each.model) for each in self.result.findings}

    def _resume(self, document: dict[str, Any]) -> None:
        self.result = from_json(document["result"])
        self._chooser.remember(document["chooser"])
        self._turn = document["turn"]

    def run(self, seconds: float, say: Callable[[str], None]) -> Fuzzed:
        """Play schedules for `seconds`, and return the results. The last schedule is played to its end.

        A resumed run counts the seconds before its interruption too.
        """
        began = time.monotonic() - self.result.seconds
        while time.monotonic() - began < seconds:
            chosen = self._chooser.turn(self._turn)
            if chosen is not None:
                self._one(*chosen, say)
                self.result.seconds = time.monotonic() - began
            self.result.drawn += self._chooser.drawn_for_one
            self._turn += 1
            if self._unfinished is not None:
                kept = {"turn": self._turn, "chooser": self._chooser.memory(), "result": as_json(self.result)}
                self._unfinished.save(kept)
        if self._unfinished is not None:
            self._unfinished.forget()
        return self.result

    def _one(self, number: int, events: bytes, say: Callable[[str], None]) -> None:
        playing = self._playground.play(events)
        model = self._playground.in_model(events, playing)
        self.result.add(number, len(playing.steps), playing.ended, playing.why, model)
        kind = playing.ended, model
        if playing.ended in FINDINGS and kind not in self._kinds:
            say(f"schedule {number}: {playing.ended}: {playing.why}; shrinking {len(events)} events")
            finding, replays = self._playground.shrunk(number, events, playing)
            self.result.replays += replays
            self._kinds.add(kind)
            self.result.findings.append(finding)
            if self._keep is not None:
                self._keep(case_of(finding, self.protocol, self.settings, self.seed))
            say(f"  {'; '.join(schedule_texts(finding.events))} (the model: {finding.model})")
