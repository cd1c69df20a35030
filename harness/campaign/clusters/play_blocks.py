"""Choose the schedules of a block and play them on a Kafka cluster. This module needs Kafka's client library."""

from typing import Any

from epochfuzz.harness.campaign.clusters import plays
from epochfuzz.harness.campaign.clusters.cluster_parameters import ClusterParameters
from epochfuzz.harness.cluster.schedules.beside import beside, settings_of
from epochfuzz.harness.cluster.schedules.choose import ClusterChooser
from epochfuzz.harness.cluster.schedules.fuzzed import DRAWN_FOR_ONE
from epochfuzz.harness.cluster.schedules.player import Player
from epochfuzz.harness.cluster.schedules.shorten import shortened
from epochfuzz.harness.documents.cluster_records import Ended, Playing
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts


class Playground:
    """A Kafka cluster, wrapped in a Player, that plays the schedules of a campaign's blocks."""

    def __init__(self, player: Player, asked: ClusterParameters) -> None:
        self._player, self._asked = player, asked
        self._protocol, self._settings = asked.parsed_protocol, asked.settings

    def block(self, number: int) -> dict[str, Any]:
        """Choose and play the schedules of a block. Returns a row of plays.BLOCKS.

        The choice does not depend on other blocks, because blocks run in any order.
        """
        chooser = ClusterChooser(self._protocol, self._settings, self._asked.seed)
        turns = self._asked.turns(number)
        chosen = filter(None, map(chooser.turn, turns))
        return plays.block_row(number, len(turns) * DRAWN_FOR_ONE, [self._one(*each) for each in chosen])

    def shrunk(self, played: dict[str, Any], seen: int) -> dict[str, Any]:
        """Shrink a played schedule by replay on the cluster. Returns a row of plays.SHRUNK."""
        events = parse_schedule(played["events"])
        first = Playing(ended=Ended(played["ended"]), why=played["why"])
        best, playing, replays = shortened(events, first, self._play)
        return {
            "ended": playing.ended,
            "model": self._model(best, playing),
            "why": playing.why,
            "events": schedule_texts(best),
            "length": len(best),
            "seen": seen,
            "schedule": played["schedule"],
            "shrunk_from": len(events),
            "replays": replays,
        }

    def _one(self, schedule: int, events: bytes) -> dict[str, Any]:
        playing = self._play(events)
        return {
            "schedule": schedule,
            "events": schedule_texts(events),
            "steps": len(playing.steps),
            "ended": playing.ended,
            "why": playing.why,
            "model": self._model(events, playing),
            "seconds": playing.seconds,
        }

    def _play(self, events: bytes) -> Playing:
        return self._player.play(settings_of(self._settings), schedule_texts(events))

    def _model(self, events: bytes, playing: Playing) -> Ended:
        return beside(events, self._settings, self._protocol, playing).ended
