"""The model with additional fields, as an adapter: `python -m tests.conform.own STARTS [WRONG]`.

The adapter appends a line to the file STARTS when it starts. With any argument WRONG its high watermarks are wrong.
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
