"""Import and run a user's own Hypothesis state machine, and extract the steps of its failures."""

import importlib
import os
import sys
from dataclasses import dataclass
from importlib.machinery import PathFinder
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

from epochfuzz.harness.campaign.machines.runs import run_machine
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.strategies.private_hypothesis import machine_of

_LONGEST_MESSAGE = 2_000
_NOT_STEPS = ("state.counted_by_epochfuzz()", "state.teardown()")


@dataclass(frozen=True)
class MachineFailure:
    """A failure of a user's state machine: the class and message of an exception, and the steps that led to it.

    The steps are in Hypothesis's notation. `schedule` is the number of the run.
    """

    error: str
    message: str
    steps: tuple[str, ...]
    schedule: int


def load_machine(name: str) -> type[RuleBasedStateMachine]:
    """Return the state machine class with the name `module:Name`. Raises CampaignError if the name is wrong.

    `Name` is a state machine or its TestCase. The module may be in the current directory, as with `python -m`.
    """
    module, _, attribute = name.partition(":")
    if not attribute:
        raise CampaignError(f"--machine must be module:Name, such as tests.machines:MyLog; got {name!r}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise CampaignError(
            f"--machine: {name} cannot be imported in {os.getcwd()}: {error}; run the command in the directory of the"
            " module"
        ) from None
    found = machine_of(found) or found
    if not (isinstance(found, type) and issubclass(found, RuleBasedStateMachine)):
        raise CampaignError(f"--machine: {name} is not a state machine; name a RuleBasedStateMachine of Hypothesis")
    return found


def place_of(name: str) -> str:
    """Return the file that an import of `module:Name` would load, as text for a message. Does not import the module.

    If Python finds no file, the text says so.
    """
    top = name.partition(":")[0].partition(".")[0]
    spec = PathFinder.find_spec(top, [os.getcwd(), *sys.path])
    if spec is None:
        return f"nowhere, because {os.getcwd()} does not contain it"
    return spec.origin or ", ".join(spec.submodule_search_locations or ())


def run_user_machine(name: str, seed_: int, first: int, count: int) -> tuple[int, list[MachineFailure]]:
    """Run a user's state machine `count` times, with run numbers from `first` on.

    Returns the number of steps, and the list of failures.
    """
    machine = load_machine(name)
    taken, failures = 0, []
    for number in range(first, first + count):
        steps, errors = run_machine(machine, seed_, number)
        taken += steps
        failures += [_failure(error, number) for error in errors]
    return taken, failures


def _failure(error: Exception, number: int) -> MachineFailure:
    notes = "\n".join(getattr(error, "__notes__", []))
    lines = [line.strip() for line in notes.splitlines() if line.strip().startswith("state.")]
    steps = tuple(line.removeprefix("state.") for line in lines if line not in _NOT_STEPS)
    return MachineFailure(type(error).__name__, str(error)[:_LONGEST_MESSAGE], steps, number)
