"""Play schedules on a cluster, compute their results in the model, and shrink findings."""

from dataclasses import dataclass

from epochfuzz.harness.cluster.schedules.beside import beside, settings_of
from epochfuzz.harness.cluster.schedules.fuzzed import ClusterFinding
from epochfuzz.harness.cluster.schedules.player import Player
from epochfuzz.harness.cluster.schedules.shorten import shortened
from epochfuzz.harness.documents.cluster_records import Ended, Playing
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


@dataclass(frozen=True)
class Playground:
    """A Kafka cluster (`player`), and the protocol and the configuration of its model."""

    player: Player
    protocol: Protocol
    settings: Configuration

    def play(self, events: bytes) -> Playing:
        """Play a schedule on the cluster, and return its results. Raises ClusterError."""
        return self.player.play(settings_of(self.settings), schedule_texts(events))

    def in_model(self, events: bytes, playing: Playing) -> Ended:
        """Return the result of a schedule in the model, which follows the results of its events on the cluster."""
        return beside(events, self.settings, self.protocol, playing).ended

    def shrunk(self, number: int, events: bytes, playing: Playing) -> tuple[ClusterFinding, int]:
        """Shrink schedule `number` by replay. Returns the finding, and the number of replays. Raises ClusterError."""
        best, ending, replays = shortened(events, playing, self.play)
        finding = ClusterFinding(
            number=number,
            events=best,
            shrunk_from=len(events),
            ended=ending.ended,
            why=ending.why,
            model=self.in_model(best, ending),
        )
        return finding, replays
