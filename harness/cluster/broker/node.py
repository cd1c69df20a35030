"""A node of a cluster: a Java process that runs Kafka as a controller or broker."""

import os
import signal
import subprocess
from pathlib import Path

from epochfuzz.harness.cluster.broker.broker_log import BrokerLog
from epochfuzz.harness.cluster.broker.data import Copies
from epochfuzz.harness.cluster.broker.installation import RESOURCES, Installation
from epochfuzz.harness.cluster.broker.sockets import unread
from epochfuzz.harness.cluster.broker.tools import java, tool
from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.cluster.room import mark

_STOPPED = "T"  # the state in /proc after SIGSTOP
# A small heap and a fast start: only the first compiler tier, and the serial garbage collector.
_OPTIONS = ("-Xms64m", "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


class Node:
    """A controller or broker.

    Its data is below `room` (the temporary directory of the cluster), and its log file is in `logs`, which may stay.
    """

    def __init__(self, name: str, number: int, port: int, kafka: Installation, room: Path, logs: Path) -> None:
        self.name, self.number, self.port = name, number, port
        self.data = room / name
        self.log = BrokerLog(logs / f"{name}.log")
        self._kafka, self._room = kafka, room
        self._settings = room / f"{name}.properties"
        self.logging = ""  # the suffix of the logging settings: log4j.properties, log4j-gates.properties
        self.copies: Copies | None = None  # the copies of the data, taken before each restart
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ending = False

    @property
    def address(self) -> str:
        """The address that the node listens on, as `host:port`."""
        return f"127.0.0.1:{self.port}"

    @property
    def state(self) -> str:
        """The state of the process: running, paused, ending or down."""
        if self._process is None or self._process.poll() is not None:
            return "down"
        if self._is_stopped():
            return "paused"
        return "ending" if self._is_ending else "running"

    def has_waiting_from(self, other: "Node") -> bool:
        """Return whether this paused node has an unread request from another node."""
        assert other._process is not None
        return unread(other._process.pid, self.port) > 0

    def configure(self, settings: dict[str, object]) -> None:
        """Write the node's server.properties."""
        text = "".join(f"{key}={value}\n" for key, value in settings.items())
        self._settings.write_text(text, encoding="utf-8")

    def command(self, main: str, *words: str) -> list[str]:
        """Return the command line that runs a main class of Kafka, with this node's logging settings."""
        logging = (
            f"-Dlog4j.configuration=file:{RESOURCES / f'log4j{self.logging}.properties'}",
            f"-Dlog4j2.configurationFile={RESOURCES / f'log4j2{self.logging}.properties'}",
        )
        path = os.pathsep.join(self._kafka.class_path)
        kafka = [java(), *_OPTIONS, *logging, mark(self._room), "-cp", path, main, *words]
        return [tool("setpriv"), "--pdeathsig", "KILL", *kafka]  # a killed parent cannot stop its children

    def format(self, cluster: str) -> subprocess.Popen[str]:
        """Start Kafka's storage tool, which formats the node's data directory, and return the tool's process."""
        words = ("format", "--cluster-id", cluster, "--config", str(self._settings))
        return subprocess.Popen(
            self.command("kafka.tools.StorageTool", *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def start(self) -> None:
        """Start the process, in a POSIX session of its own. So Ctrl-C does not reach the process."""
        if self._process is not None and self.copies is not None:
            self.copies.before_restart(self.name, self.data)
        self._is_ending = False
        with self.log.path.open("ab") as log:
            self._process = subprocess.Popen(
                self.command("kafka.Kafka", str(self._settings)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._room,
                start_new_session=True,
            )

    def pause(self) -> None:
        """Pause the process with SIGSTOP. `state` is `paused` once all threads have stopped."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume the paused process with SIGCONT."""
        self._signal(signal.SIGCONT)

    def terminate(self) -> None:
        """Start a controlled shutdown, with SIGTERM."""
        self._is_ending = True
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process with SIGKILL, and wait until it has exited. Does nothing without a process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def check(self) -> None:
        """Raise ClusterError if the process has exited with an error."""
        code = None if self._process is None else self._process.poll()
        if code is not None and code > 0 and code != 128 + signal.SIGTERM:
            raise ClusterError(
                f"{self.name} exited with status {code}: {self.log.last_error() or 'its log has no error'}"
            )

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None, f"{self.name} was not started"
        self._process.send_signal(number)

    def _is_stopped(self) -> bool:
        assert self._process is not None
        try:
            threads = list(Path(f"/proc/{self._process.pid}/task").iterdir())
            return all((thread / "stat").read_text().rpartition(") ")[2][0] == _STOPPED for thread in threads)
        except OSError:
            return False
