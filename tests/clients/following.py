"""The loop of an adapter: it reads an order from each line of standard input, and prints the report."""

import json
import sys
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass
class News:
    """The records that were acknowledged, that failed and that were read since the last report."""

    acked: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)

    def report(self) -> dict[str, list[str]]:
        told = {"acked": [*self.acked], "failed": [*self.failed], "read": [*self.read]}
        for values in (self.acked, self.failed, self.read):
            values.clear()
        return told


class Client(Protocol):
    """A producer and a consumer of one library. `restarts` is the flag `--restart` of the command."""

    news: News

    def reset(self, order: dict[str, Any]) -> None: ...

    def send(self, value: str) -> None: ...

    def poll(self, seconds: float) -> None: ...

    def restart(self) -> None:
        """Close the consumer, and start another one at the old position and leader epoch."""

    def commit(self) -> None:
        """Commit the consumer's position, with its leader epoch if the library has it."""

    def resume(self) -> None:
        """Close the consumer, and start another one at the committed position."""


def follow(client: Client) -> None:
    """Follow orders until standard input ends. With `--restart`, the consumer restarts before each new leader."""
    restarts = "--restart" in sys.argv[1:]
    for line in sys.stdin:
        order = json.loads(line)
        if order["op"] == "reset":
            client.reset(order)
        elif order["op"] == "send":
            client.send(order["value"])
        elif order["op"] == "poll":
            client.poll(order["seconds"])
        elif order["op"] == "refresh" and restarts:
            client.restart()
        elif order["op"] == "commit":
            client.commit()
        elif order["op"] == "restart":
            client.resume()
        print(json.dumps(client.news.report()), flush=True)
