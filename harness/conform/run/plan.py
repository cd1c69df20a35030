"""The plan of a conformance run: the schedules to run on an adapter, divided into blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.oracle.known import Known, of_document
from epochfuzz.harness.conform.protocol.subject import PATIENCE, CommandSubject
from epochfuzz.harness.conform.run.block import MOST_UNJUDGED, Block, Trial
from epochfuzz.harness.conform.run.selection import Selection, schedule
from epochfuzz.harness.conform.run.subjects import command_subject
from epochfuzz.harness.serve.settings import settings_for_clients
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.conform.client.client_subject import ClientSubject

BLOCK = 50  # schedules per process: enough that its start costs little, and few enough to divide them among jobs


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The request of a conformance run: the adapter's command, the schedules to run on it, and the oracle.

    `patience` is the time limit for a reply in seconds.
    """

    command: tuple[str, ...]
    protocols: Sequence[Protocol]
    settings: Configuration
    schedules: int
    seed: int
    cases: Sequence[Case] = ()
    judged_by: JudgedBy = JudgedBy.LOCKSTEP
    patience: float = PATIENCE
    max_failures: int | None = None  # the number of failing schedules after which the run stops
    processes_for: int = BLOCK  # schedules per adapter process
    known: tuple[Known, ...] = ()  # known differences, which do not count as failures
    selection: Selection = Selection.RANDOM
    is_client: bool = False  # whether the command is a client, which follows orders

    @property
    def blocks(self) -> int:
        """The number of blocks for each protocol."""
        return self._blocks_of_cases + -(-self.schedules // self.processes_for)

    @property
    def _cases_per_block(self) -> int:
        """The number of cases in a block. One block has all cases, except for a client, whose cases are slow."""
        return self.processes_for if self.is_client else max(1, len(self.cases))

    @property
    def _blocks_of_cases(self) -> int:
        """The number of blocks with cases, before the blocks with random schedules."""
        return -(-len(self.cases) // self._cases_per_block)

    def _before(self, number: int) -> tuple[int, int]:
        """Return the number of cases and the number of random schedules in the blocks before block `number`."""
        cases = min(number * self._cases_per_block, len(self.cases))
        return cases, min(max(0, number - self._blocks_of_cases) * self.processes_for, self.schedules)

    def is_enough(self, unexpected: int, unjudged: int, given_up: bool) -> bool:
        """Return whether a run under a protocol ends early.

        `unexpected` is the number of schedules with an unexpected failure, and `unjudged` the number of those without a
        valid reply. `given_up` means that a block gave up.
        """
        most = self.max_failures
        return given_up or unjudged >= MOST_UNJUDGED or (most is not None and unexpected >= most)

    def trials(self, protocol: Protocol, number: int) -> Iterator[Trial]:
        """Yield the schedules of a block under a protocol.

        The first blocks hold the cases. The other blocks hold random schedules.
        """
        (cases, schedules), (cases_after, schedules_after) = self._before(number), self._before(number + 1)
        yield from map(self.case_trial, self.cases[cases:cases_after])
        yield from (self.trial(self._drawn(protocol, i), i) for i in range(schedules, schedules_after))

    def trial(self, events: bytes, number: int) -> Trial:
        """Return random schedule `number` as a trial. `events` are its events, or only the events sent."""
        return Trial(events, self.settings, number=number, known=self.known)

    def case_trial(self, case: Case) -> Trial:
        """Return a trial with the schedule of a case."""
        settings = settings_for_clients(case.settings) if self.is_client else case.settings
        return Trial(case.events, settings, case=case.id, known=self.known)

    def subject(self, patience: float) -> "CommandSubject | ClientSubject":
        """Return the system under test. `patience` is the time limit for a reply, in seconds."""
        return command_subject(self.command, patience, is_client=self.is_client)

    def _drawn(self, protocol: Protocol, number: int) -> bytes:
        return schedule(self.selection, protocol, self.settings, self.seed, number, is_client=self.is_client)

    def block_of(self, protocol: Protocol, number: int) -> Block:
        """Return block `number` under a protocol."""
        return Block(
            command=self.command,
            patience=self.patience,
            protocol=protocol,
            judged_by=self.judged_by,
            trials=tuple(self.trials(protocol, number)),
            max_failures=self.max_failures,
            is_client=self.is_client,
            before=sum(self._before(number)),
            total=len(self.cases) + self.schedules,
        )

    def document(self) -> dict[str, Any]:
        """Return the plan as plain data for `from_document`. Descriptions of cases are left out."""
        return {
            "command": list(self.command),
            "protocols": [protocol.name for protocol in self.protocols],
            "configuration": asdict(self.settings),
            "schedules": self.schedules,
            "seed": self.seed,
            "cases": [[case.id, asdict(case.settings), list(case.events)] for case in self.cases],
            "judge": str(self.judged_by),
            "timeout": self.patience,
            "max_failures": self.max_failures,
            "block": self.processes_for,
            "known": [each.document() for each in self.known],
            "selection": str(self.selection),
            **({"client": True} if self.is_client else {}),  # no key otherwise, so that older runs resume
        }

    @staticmethod
    def from_document(document: dict[str, Any]) -> "Plan":
        """Return the plan from the plain data of `document`."""
        return Plan(
            command=tuple(document["command"]),
            protocols=[parse_protocol(name) for name in document["protocols"]],
            settings=Configuration(**document["configuration"]),
            schedules=document["schedules"],
            seed=document["seed"],
            cases=[Case(name, "", Configuration(**config), bytes(e)) for name, config, e in document["cases"]],
            judged_by=JudgedBy(document["judge"]),
            patience=document["timeout"],
            max_failures=document["max_failures"],
            processes_for=document["block"],
            known=tuple(map(of_document, document.get("known", []))),
            selection=Selection(document.get("selection", Selection.RANDOM)),
            is_client=document.get("client", False),
        )
