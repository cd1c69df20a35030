"""Kinds of work, by what parameters call them."""

import importlib
import json
from collections.abc import Mapping
from typing import Any

from epochfuzz.harness.campaign.run.work import Work

# Where they are: a kind is imported when it is asked for, since workers need not have what other kinds need.
_HOMES = {
    "walk": "walks.walk_work:Walks",
    "hypothesis": "machines.machine_work:Machines",
    "conformance": "conformance.conformance_work:Trials",
    "tours": "conformance.tours_work:Tours",
    "cluster": "clusters.cluster_work:Clusters",
}
_OWN_MACHINES = "machines.machine_work:OwnMachines"  # of a state machine that the parameters name


def kind(row: Mapping[str, Any]) -> type[Work[Any]]:
    """Return the kind of work that a row of parameters is of. Raises ValueError."""
    engine = row.get("engine")
    if engine not in _HOMES:
        raise ValueError(f"engine {engine!r} is none of {', '.join(_HOMES)}")
    is_own = engine == "hypothesis" and row.get("machine") is not None
    module, _, name = (_OWN_MACHINES if is_own else _HOMES[engine]).partition(":")
    found: type[Work[Any]] = getattr(importlib.import_module(f"epochfuzz.harness.campaign.{module}"), name)
    return found


def work_of(row: Mapping[str, Any]) -> Work[Any]:
    """Return the work of a row of parameters. Raises ValueError with what is wrong with it."""
    work = kind(row)
    known = {field.name for field in work.PARAMETERS}
    unknown = sorted(row.keys() - known)
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: no such parameter")
    # What is newer than the campaign has no value there.
    return work.from_row(dict.fromkeys(known) | dict(row))


def work_of_text(text: str) -> Work[Any]:
    """Return the work of a text (Work.text)."""
    return work_of(json.loads(text))
