"""The model with something wrong, as a command: `python -m tests.conform.wrong HOW`."""

import os
import sys
from typing import Any

from tests.conform.reference import Reference, serve


class Dies(Reference):
    """It ends at a crash after which nobody is up."""

    def apply(self, event: str) -> bool:
        applied = super().apply(event)
        if event.startswith("crash") and not any(each["up"] for each in self.observe()["replicas"].values()):
            os._exit(7)
        return applied


class Unstable(Reference):
    """The first process of it that is started shows one HW too many, once; a file tells the others."""

    def observe(self) -> dict[str, Any]:
        observation = super().observe()
        shown = sys.argv[2] if len(sys.argv) > 2 else "shown"
        if observation["replicas"]["A"]["hw"] and not os.path.exists(shown):
            open(shown, "w").close()
            observation["replicas"]["A"]["hw"] += 1
        return observation


class Permissive(Reference):
    """It lets B lead although B leads."""

    def apply(self, event: str) -> bool:
        return super().apply(event) or event == "elect B"


class Cuts(Reference):
    """It truncates its log to its high watermark when it starts to follow, whatever protocol it is asked for."""

    def reset(self, config: dict[str, Any], protocol: str) -> list[str] | None:
        return super().reset(config, f"{protocol}:truncation=high_watermark")


class Few(Reference):
    def reset(self, config: dict[str, Any], protocol: str) -> list[str] | None:
        super().reset(config, protocol)
        return ["produce", "fetch", "receive"]


if __name__ == "__main__":
    serve({"dies": Dies, "unstable": Unstable, "permissive": Permissive, "few": Few, "cuts": Cuts}[sys.argv[1]]())
