"""Find the job class of a campaign by the value of `engine` in its parameters."""

import importlib
import json
import sys
from collections.abc import Mapping
from typing import Any

from epochfuzz.harness.campaign.run.job import Job

# The module of each kind. A kind is imported when it is first needed, because a worker may lack the dependencies of the
# other kinds.
_HOMES = {
    "walk": "walks.walk_job:Walks",
    "hypothesis": "machines.machine_job:Machines",
    "conformance": "conformance.conformance_job:Trials",
    "tours": "conformance.tours_job:Tours",
    "cluster": "clusters.cluster_job:Clusters",
}
_OWN_MACHINES = "machines.machine_job:OwnMachines"  # the kind if the parameters name a user's own state machine


def kind(row: Mapping[str, Any]) -> type[Job[Any]]:
    """Return the job class for a row of parameters. Raises ValueError.

    A class outside of epochfuzz must have been imported before. Someone else may have written the row, so this function
    does not import the module that it names.
    """
    engine = str(row.get("engine"))
    if engine in _HOMES:
        is_own = engine == "hypothesis" and row.get("machine") is not None
        home = f"epochfuzz.harness.campaign.{_OWN_MACHINES if is_own else _HOMES[engine]}"
        importlib.import_module(home.partition(":")[0])
    else:
        home = engine
    module, _, name = home.partition(":")
    found = getattr(sys.modules.get(module), name, None)
    if not (isinstance(found, type) and issubclass(found, Job)):
        raise ValueError(f"engine must be one of {', '.join(_HOMES)}; got {row.get('engine')!r}")
    return found


def work_of(row: Mapping[str, Any]) -> Job[Any]:
    """Return the job with the parameters in a row. Raises ValueError, which names the wrong parameter."""
    work = kind(row)
    known = {field.name for field in work.PARAMETERS}
    unknown = sorted(row.keys() - known)
    if unknown:
        raise ValueError(f"this version has no parameter {' or '.join(unknown)}")
    # Parameters that are newer than the campaign have no value in its row.
    return work.from_row(dict.fromkeys(known) | dict(row))


def work_of_text(text: str) -> Job[Any]:
    """Return the job from the text of Job.text or Job.text_for_workers. Imports a module outside of epochfuzz."""
    row = json.loads(text)
    if row["engine"] not in _HOMES:
        importlib.import_module(row["engine"].partition(":")[0])
    return work_of(row)
