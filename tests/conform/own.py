"""The model with fields of its own, as a command: `python -m tests.conform.own STARTS [WRONG]`.

It notes its start in the file STARTS. With any WRONG its high watermarks are wrong.
"""

import sys
from pathlib import Path
from typing import Any

from tests.conform.reference import Reference, serve


class Own(Reference):
    def observe(self) -> dict[str, Any]:
        observation = super().observe()
        state = self.execution.state
        for r, replica in enumerate(observation["replicas"].values()):
            replica["own"] = {"flushed": int(state.flushed[r])}
            replica["hw"] += len(sys.argv) > 2
        observation["controller"]["own"] = {"decisions": int(state.controller_epoch) + 1}
        return observation


if __name__ == "__main__":
    with Path(sys.argv[1]).open("a") as starts:
        starts.write("start\n")
    serve(Own())
