"""Choose the schedules of a block and play them on a Kafka cluster. This module needs Kafka's client library."""

from typing import Any

from epochfuzz.harness.campaign.clusters import plays
from epochfuzz.harness.campaign.clusters.cluster_parameters import ClusterParameters
from epochfuzz.harness.cluster.schedules.choose import ClusterChooser
from epochfuzz.harness.cluster.schedules.fuzzed import DRAWN_FOR_ONE
from epochfuzz.harness.cluster.schedules.player import Player
from epochfuzz.harness.cluster.schedules.playground import Playground
from epochfuzz.harness.documents.cluster_records import Ended, Playing
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts


class BlockPlayer:
    """Plays the schedules of a campaign's blocks on a cluster."""

    def __init__(self, player: Player, asked: ClusterParameters) -> None:
        self._asked = asked
        self._playground = Playground(player, asked.parsed_protocol, asked.settings)

    def block(self, number: int) -> dict[str, Any]:
        """Choose and play the schedules of a block. Returns a row of plays.BLOCKS.

        The choice does not depend on other blocks, because blocks run in any order.
        """
        chooser = ClusterChooser(self._playground.protocol, self._playground.settings, self._asked.seed)
        turns = self._asked.turns(number)
        chosen = filter(None, map(chooser.turn, turns))
        return plays.block_row(number, len(turns) * DRAWN_FOR_ONE, [self._one(*each) for each in chosen])

    def shrunk(self, played: dict[str, Any], seen: int) -> dict[str, Any]:
        """Shrink a played schedule by replay on the cluster. Returns a row of plays.SHRUNK."""
        events = parse_schedule(played["events"])
        first = Playing(ended=Ended(played["ended"]), why=played["why"])
        finding, replays = self._playground.shrunk(played["schedule"], events, first)
        return {**finding.plain(), "length": len(finding.events), "seen": seen, "replays": replays}

    def _one(self, schedule: int, events: bytes) -> dict[str, Any]:
        playing = self._playground.play(events)
        return {
            "schedule": schedule,
            "events": schedule_texts(events),
            "steps": len(playing.steps),
            "ended": playing.ended,
            "why": playing.why,
            "model": self._playground.in_model(events, playing),
            "seconds": playing.seconds,
        }
