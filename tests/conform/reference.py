"""The model as an adapter, which conforms by construction. As a command: `python -m tests.conform.reference`."""

import json
import sys
from typing import Any

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.vocabulary.configuration import MAX_EPOCHS, MAX_RECORDS, Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


class Reference:
    """The model as an adapter in Python."""

    def reset(self, config: dict[str, Any], protocol: str) -> list[str] | None:
        bounds = {"records": MAX_RECORDS, "epochs": MAX_EPOCHS}  # an adapter has no bounds
        self.execution = Execution(parse_protocol(protocol), Configuration(**(config | bounds)))
        return None

    def apply(self, event: str) -> bool:
        return self.execution.apply(parse_event(event))

    def observe(self) -> dict[str, Any]:
        return observe(self.execution.state)


def serve(subject: Reference) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "reset":
            verbs = subject.reset(request["config"], request["protocol"])
            reply: dict[str, Any] = {"ok": True} | ({} if verbs is None else {"events": verbs})
        else:
            reply = {"applied": subject.apply(request["event"]), "observation": subject.observe()}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    serve(Reference())
