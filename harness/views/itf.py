"""Write the states of a run as an ITF trace, the JSON format of Apalache, Quint and their viewers.

Apalache's ADR 015 defines the format: sequences are arrays, records are objects, `#set` is a set, `#map` is a function.
The variables are the same as in the TLA+ trace (tla.py).
"""

import json
from collections.abc import Sequence
from typing import Any

from epochfuzz.harness.trace.replay import Run
from epochfuzz.harness.views.drawings import captions
from epochfuzz.harness.views.tla import ByReplica, variables

_FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"


def trace(run: Run, source: str) -> str:
    """Return the text of a trace file: the state at the start, and the state after each event.

    `source` describes the origin of the schedule.
    """
    return json.dumps(document(run, source), indent=1) + "\n"


def document(run: Run, source: str, transitions: Sequence[int] = ()) -> dict[str, Any]:
    """Return the trace as plain data. `transitions` has a number for each event, or is empty."""
    states = [run.start, *(step.state for step in run.steps)]
    shown = [variables(scene, state) for scene, state in zip(run.scenes, states, strict=True)]
    told = f"{run.protocol.name} {captions.verdict(run)}"
    metas = [{}, *({"transition": number} for number in transitions)] if transitions else [{} for _ in shown]
    return {
        "#meta": {"format": "ITF", "format-description": _FORMAT, "source": source, "description": told},
        "vars": list(shown[0]),
        "states": [
            {"#meta": {"index": number, **meta}, **{name: _value(value) for name, value in state.items()}}
            for number, (meta, state) in enumerate(zip(metas, shown, strict=True))
        ],
    }


def _value(value: Any) -> Any:
    match value:
        case ByReplica():
            return {"#map": [[key, _value(item)] for key, item in value.items()]}
        case dict():
            return {key: _value(item) for key, item in value.items()}
        case list():
            return [_value(item) for item in value]
        case frozenset():
            return {"#set": [_value(item) for item in sorted(value)]}
        case _:
            return value
