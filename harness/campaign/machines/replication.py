"""Run epochfuzz's replication machine, a Hypothesis state machine, and add up its results in a Tally."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from epochfuzz.harness.campaign.machines.runs import run_machine
from epochfuzz.harness.engine.walk.walk import Failure, Tally
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties, situations
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary import goals
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.strategies.failures import PropertyBroken
from epochfuzz.strategies.machine import LASTING, replication_machine

_SCOUTED = 300  # random schedules that the machine may try in the model at the start of an example
# A property that breaks early would hide the others. Each run therefore checks one group of properties.
_JUDGED = (
    LASTING,
    tuple(each.name for each in properties.PROPERTIES if each.is_warning),
    tuple(each.name for each in properties.PROPERTIES if each.at_end),
)


@dataclass(frozen=True)
class _Ended:
    """The result of one run of the machine. `goals_met` has a flag per protocol (row) and coverage goal (column)."""

    steps: int
    goals_met: np.ndarray
    failures: list[PropertyBroken]


class ReplicationMachines:
    """The engine that runs the replication machine under several protocols at once.

    It returns its results as a Tally, as the engine of random runs (Walker) does.
    """

    def __init__(self, protocols: Sequence[Protocol], settings: Configuration, seed: int) -> None:
        self.protocols = tuple(protocols)
        self.settings = settings
        self.seed = seed

    def walk(self, first: int, count: int) -> Tally:
        """Run the machine `count` times, with run numbers from `first` on. Returns the sums of the results.

        In the returned Tally, `events` counts the steps of the machine.
        """
        tally = Tally.empty(KAFKA, len(self.protocols))
        tally.schedules = count
        for number in range(first, first + count):
            ended = self._run(number)
            tally.events += ended.steps
            tally.goals += ended.goals_met
            for broken in ended.failures:
                self._count(tally, broken, number)
        return tally

    def failing(self, failure: Failure, protocol: Protocol, property_: str) -> bytes:
        """Repeat the run that had a failure, and return the schedule that broke `property_` under `protocol`.

        The schedule has one byte for each event.
        """
        failures = self._run(failure.schedule).failures
        (events,) = (each.events for each in failures if (each.protocol, each.property) == (protocol, property_))
        return parse_schedule(events)

    @lru_cache(maxsize=100)  # noqa: B019 - a worker process has a single instance
    def _run(self, number: int) -> "_Ended":
        """Run the machine once. The run number decides which properties are checked, and which protocol comes first."""
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
        failures = []
        for error in errors:
            if not isinstance(error, PropertyBroken):
                raise error  # an error of the model or of the machine, and not a violation
            failures.append(error)
        return _Ended(steps, met, failures)

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
        before = situations.before(execution.state, replica_of(last))
        execution.apply(last)
        return situations.situation(execution.state, last, before)
