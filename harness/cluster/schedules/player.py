"""Play schedules one after another on a cluster, and replace the cluster if it breaks down."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from epochfuzz.harness.cluster.broker.cluster import running
from epochfuzz.harness.cluster.broker.data import DATA
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.errors import ClusterError, NotReached
from epochfuzz.harness.cluster.gates.gated import GatedCluster
from epochfuzz.harness.cluster.room import new_directory, room
from epochfuzz.harness.cluster.schedules.play import play
from epochfuzz.harness.cluster.schedules.stage import TopicSettings
from epochfuzz.harness.documents.cluster_records import Ended, Playing

_TRIES = 2  # clusters that one schedule may break down before it counts as not reached


class Player:
    """Plays schedules on a cluster. Starts a cluster for the first schedule, and a new cluster after a cluster fails.

    `out` is the directory for the logs of the clusters, or None to keep no logs. With `keep_data`, the data directories
    of the nodes are kept in `out` too.
    """

    def __init__(self, kafka: Installation, out: Path | None, keep_data: bool = False) -> None:
        self.clusters = 0  # the number of clusters started
        self._kafka, self._out, self._keep_data = kafka, out, keep_data
        self._closing = ExitStack()
        self._cluster: GatedCluster | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self._closing.close()

    def play(
        self, settings: TopicSettings, schedule: Sequence[str], say: Callable[[str], None] = lambda line: None
    ) -> Playing:
        """Play a schedule on a new topic, and return its results. Raises ClusterError if no cluster can be started."""
        for tried in range(_TRIES):
            if self._cluster is None:
                self._cluster = self._start()
            try:
                playing = play(self._cluster, settings, schedule, say)
            except (ClusterError, NotReached) as error:
                self.end()
                say(f"epochfuzz replaces the cluster, because it broke down: {error}")
                if tried + 1 == _TRIES:
                    return Playing(ended=Ended.NOT_REACHED, why=f"the cluster broke down: {error}")
                continue
            if playing.ended is Ended.DIVERGED:  # a diverged cluster would influence later schedules
                self.end()
            return playing
        raise AssertionError("unreachable")

    def end(self) -> None:
        """Stop the cluster. The next schedule starts another cluster."""
        self._closing.close()
        self._cluster = None

    def _start(self) -> GatedCluster:
        """Start a cluster. Raises ClusterError."""
        self.clusters += 1
        here = self._closing.enter_context(room())
        logs = new_directory(here / "logs" if self._out is None else self._out / f"cluster-{self.clusters}")
        try:
            cluster = GatedCluster(self._kafka, here, logs)
            return self._closing.enter_context(running(cluster, logs / DATA if self._keep_data else None))
        except NotReached as error:
            raise ClusterError(f"the cluster did not start: {error}") from None
