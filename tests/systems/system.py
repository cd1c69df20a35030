"""A version of a system that nobody here wrote, and the subject that it is run as."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from epochfuzz.harness.cases.case import Case
from epochfuzz.model.kafka.vocabulary.events import Verb, verb_of
from epochfuzz.model.kafka.vocabulary.in_force import requests_isr_changes
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

_ANSWERS = (Verb.ALTER, Verb.REFUSE)
_STAND_IN = "kip-320"  # is named to a subject that the model has no protocol for; the model's verdict is not used


@dataclass(frozen=True)
class System:
    """What `python -m tests.systems` builds and runs.

    `name` is what cases call it, such as fluss-0.9.1; `python -m module version` is the subject. `missing` says what
    has to be installed before it can be built, one sentence each with the command; `build` builds it, and raises
    BuildError. `protocol` is the model's, where it has one.
    """

    name: str
    module: str
    version: str
    missing: Callable[[], list[str]]
    build: Callable[[], object]
    protocol: str | None = None

    @property
    def command(self) -> tuple[str, ...]:
        """What starts the subject."""
        return (sys.executable, "-m", self.module, self.version)

    def protocol_for(self, case: Case) -> Protocol:
        """What a case is replayed under: where no controller answers in it, a change of the ISR is one event."""
        protocol = parse_protocol(self.protocol or _STAND_IN)
        if any(verb_of(event) in _ANSWERS for event in case.events) or not requests_isr_changes(protocol.constants):
            return protocol
        return parse_protocol(f"{protocol.name}{',' if ':' in protocol.name else ':'}isr_change=atomic")


class BuildError(Exception):
    """The subject cannot be built; the message says why, and what to do."""
