"""Machines: Hypothesis state machines as the engine of a campaign, one run of a machine for each number.

A run of number i of seed s is seeded with both, and keeps nothing for the next one, so it comes out the same anywhere.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import Phase, seed
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, run_state_machine_as_test

from epochfuzz.harness.campaign.errors import CampaignError
from epochfuzz.harness.search import situations
from epochfuzz.harness.search.walk import Failure, Tally
from epochfuzz.model import goals, properties
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import parse_schedule
from epochfuzz.model.execution import Execution
from epochfuzz.model.protocols import Protocol
from epochfuzz.strategies.failures import PropertyBroken
from epochfuzz.strategies.machine import LASTING, replication_machine
from epochfuzz.strategies.profiles import UNATTENDED

EXAMPLES = 20
_LONGEST_MESSAGE = 2_000
_NOT_STEPS = ("state.counted_by_epochfuzz()", "state.teardown()")
_SCOUTED = 300  # schedules in a run, which are many runs
_SETTINGS = hypothesis_settings(UNATTENDED, max_examples=EXAMPLES, phases=[Phase.generate, Phase.shrink])
# A property that breaks soon would hide the others: each run judges some of them.
_JUDGED = (LASTING, ("isr-complete",), ("convergence",))


@dataclass(frozen=True)
class MachineFailure:
    """A machine of the user's own failed: with which exception, by which steps of Hypothesis's, in which run."""

    error: str
    message: str
    steps: tuple[str, ...]
    schedule: int


@dataclass(frozen=True)
class _Ended:
    """A run of the replication machine: its steps, the goals that it met (axes protocol and goal), and what broke."""

    steps: int
    goals_met: np.ndarray
    failures: list[PropertyBroken]


class ReplicationMachines:
    """Runs of the replication machine under protocols side by side. It tallies as a Walker does."""

    def __init__(self, protocols: Sequence[Protocol], settings: Configuration, seed: int) -> None:
        self.protocols = tuple(protocols)
        self.settings = settings
        self.seed = seed

    def walk(self, first: int, count: int) -> Tally:
        """Run machines `first` to `first + count - 1`. `events` counts the steps that machines took."""
        tally = Tally.empty(len(self.protocols))
        tally.schedules = count
        for number in range(first, first + count):
            ended = self._run(number)
            tally.events += ended.steps
            tally.goals += ended.goals_met
            for broken in ended.failures:
                self._count(tally, broken, number)
        return tally

    def failing(self, failure: Failure, protocol: Protocol, property_: str) -> bytes:
        """The schedule with which a run of the machine broke a property."""
        failures = self._run(failure.schedule).failures
        (events,) = (each.events for each in failures if (each.protocol, each.property) == (protocol, property_))
        return parse_schedule(events)

    @lru_cache(maxsize=100)  # noqa: B019 - a worker has one of these, for its life
    def _run(self, number: int) -> "_Ended":
        """Run a machine. Each run scouts for failures of another protocol."""
        judged = _JUDGED[number % len(_JUDGED)]
        turn = number // len(_JUDGED) % len(self.protocols)
        in_turn = (*self.protocols[turn:], *self.protocols[:turn])
        permitted = properties.permitted(self.settings)
        machine = replication_machine(
            *(protocol.name for protocol in in_turn),
            settings=self.settings,
            judged=[name for name in judged if name not in permitted],
            scouted=_SCOUTED,
        )
        met = np.zeros((len(self.protocols), len(goals.NAMES)), np.int64)

        class Noting(machine):  # type: ignore[misc, valid-type]
            def teardown(self) -> None:
                for protocol, execution in zip(in_turn, self.executions, strict=True):
                    met[index[protocol]] |= [execution.state.goals >> bit & 1 for bit in range(len(goals.NAMES))]

        index = {protocol: i for i, protocol in enumerate(self.protocols)}
        steps, errors = run_machine(Noting, self.seed, number)
        return _Ended(steps, met, [error for error in errors if isinstance(error, PropertyBroken)])

    def _count(self, tally: Tally, broken: PropertyBroken, number: int) -> None:
        place = (
            self.protocols.index(broken.protocol),
            properties.named(broken.property).number,
            situations.kind_of(self._last_situation(broken)),
        )
        tally.failures[place] += 1
        rows = sorted([*map(tuple, tally.shortest[place].tolist()), (len(broken.events), number)])
        tally.shortest[place] = rows[: len(tally.shortest[place])]

    def _last_situation(self, broken: PropertyBroken) -> int:
        *earlier, last = parse_schedule(broken.events)
        execution = Execution(broken.protocol, self.settings, earlier)
        before = situations.before(execution.state, last & 7)
        execution.apply(last)
        return situations.situation(execution.state, last, before)


def run_machine(machine: type[RuleBasedStateMachine], seed_: int, number: int) -> tuple[int, list[Exception]]:
    """One run of any machine: how many steps it took, and what its failures raised, shrunk, in a fixed order."""
    steps = 0

    class Counted(machine):  # type: ignore[misc, valid-type]
        @invariant()
        def counted_by_epochfuzz(self) -> None:
            nonlocal steps
            steps += 1

    errors: list[Exception] = []
    try:
        run_state_machine_as_test(seed(seed_ << 64 | number)(Counted), settings=_SETTINGS)
    except ExceptionGroup as several:
        errors = list(several.exceptions)
    except Exception as error:
        errors = [error]
    return steps, sorted(errors, key=lambda error: (type(error).__name__, str(error)))


def load_machine(name: str) -> type[RuleBasedStateMachine]:
    """The machine of a text `module:Name`: a state machine, or its TestCase. Raises CampaignError.

    Its module is looked for in the current directory too, as `python -m` does.
    """
    module, _, attribute = name.partition(":")
    if not attribute:
        raise CampaignError(f"--machine: {name!r} is not module:Name, such as tests.machines:MyLog")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise CampaignError(f"--machine: {name} was not found from {os.getcwd()}: {error}") from None
    found = getattr(getattr(found, "runTest", None), "_hypothesis_state_machine_class", found)
    if not (isinstance(found, type) and issubclass(found, RuleBasedStateMachine)):
        raise CampaignError(f"--machine: {name} is not a Hypothesis state machine (a RuleBasedStateMachine)")
    return found


def run_user_machine(name: str, seed_: int, first: int, count: int) -> tuple[int, list[MachineFailure]]:
    """Run a machine of the user's own for some numbers: how many steps it took, and how it failed."""
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
