"""Mutants of the model as adapters: `python -m tests.conform.wrong HOW`."""

import os
import sys
from typing import Any

from tests.conform.reference import Reference, serve


class Dies(Reference):
    """Exit at a crash after which no replica is up."""

    def apply(self, event: str) -> bool:
        applied = super().apply(event)
        if event.startswith("crash") and not any(each["up"] for each in self.observe()["replicas"].values()):
            os._exit(7)
        return applied


class Unstable(Reference):
    """Show a wrong HW once, in the first process. A file shows the other processes that this has happened."""

    def observe(self) -> dict[str, Any]:
        observation = super().observe()
        shown = sys.argv[2] if len(sys.argv) > 2 else "shown"
        if observation["replicas"]["A"]["hw"] and not os.path.exists(shown):
            open(shown, "w").close()
            observation["replicas"]["A"]["hw"] += 1
        return observation


class Permissive(Reference):
    """Apply `elect B` although B is the leader."""

    def apply(self, event: str) -> bool:
        return super().apply(event) or event == "elect B"


class Cuts(Reference):
    """Truncate the log of a new follower to its high watermark, under every protocol."""

    def reset(self, config: dict[str, Any], protocol: str) -> list[str] | None:
        return super().reset(config, f"{protocol}:truncation=high_watermark")


class Few(Reference):
    def reset(self, config: dict[str, Any], protocol: str) -> list[str] | None:
        super().reset(config, protocol)
        return ["produce", "fetch", "receive"]


if __name__ == "__main__":
    serve({"dies": Dies, "unstable": Unstable, "permissive": Permissive, "few": Few, "cuts": Cuts}[sys.argv[1]]())
