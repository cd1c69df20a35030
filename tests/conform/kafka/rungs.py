"""The rows of the release matrix: a release of Kafka, and the protocol of the model that it must agree with.

A protocol may be unknown to the model. The release then runs without a comparison.
"""

from collections.abc import Collection
from dataclasses import dataclass

from epochfuzz.harness.cases.case import Case
from epochfuzz.model.kafka.vocabulary.events import Verb, verb_of
from epochfuzz.model.kafka.vocabulary.in_force import requests_isr_changes
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, ProtocolError, parse_protocol
from tests.conform.kafka.releases import RELEASES, ReleaseError

_ANSWERS = (Verb.ALTER, Verb.REFUSE)
_STAND_IN = "kip-320"  # replayed if the model has no protocol for a release; its verdict is not used


@dataclass(frozen=True)
class Rung:
    """A release, run with its own inter.broker.protocol.version or with an older one."""

    release: str
    protocol: str
    inter_broker_protocol: str | None = None

    @property
    def name(self) -> str:
        """The name in tables: `2.8.1`, or `2.8.1 as 0.11`."""
        return self.release if self.inter_broker_protocol is None else f"{self.release} as {self.inter_broker_protocol}"

    @property
    def words(self) -> list[str]:
        """The arguments of `python -m tests.conform.kafka`."""
        return [self.release, *(["--ibp", self.inter_broker_protocol] if self.inter_broker_protocol else [])]

    def of_the_model(self) -> Protocol | None:
        """Return the protocol, or None if the model does not have it."""
        try:
            return parse_protocol(self.protocol)
        except ProtocolError:
            return None

    def protocol_for(self, case: Case) -> Protocol:
        """Return the protocol for the replay of a case. Without AlterPartition events, an ISR change is one event."""
        protocol = self.of_the_model() or parse_protocol(_STAND_IN)
        if any(verb_of(event) in _ANSWERS for event in case.events) or not requests_isr_changes(protocol.constants):
            return protocol
        return parse_protocol(f"{protocol.name}{',' if ':' in protocol.name else ':'}isr_change=atomic")


# The fixes in 2.8.1 that do not depend on inter.broker.protocol.version.
_TODAY = (
    "remote_leo=kept,registration=fenced,isr_expansion=epoch_start,truncate_when=each_epoch,"
    "unknown_producer=any_sequence,producer_snapshot=last_record"
)

# Up to 3.6 a leader reads the broker epoch of a follower after it has looked at the follower, within one call of
# Partition.maybeExpandIsr (KAFKA-15221). The adapter carries out that call in one event, so no fetch arrives within it.
_ONE_CALL = "isr_eligibility=incarnation"

RUNGS = (
    Rung("0.10.2.2", "kafka-0.10.2"),
    Rung("2.8.1", f"hw:{_TODAY}", "0.10.2"),
    Rung("1.1.0", "kafka-1.1.0"),
    Rung("1.1.1", "kafka-1.1"),
    Rung("2.8.1", f"kip-101:{_TODAY},epoch_cache=kafka-7415", "0.11.0"),
    Rung("2.0.0", "kafka-2.0.0"),
    Rung("2.0.1", "kafka-2.0.1"),
    Rung("2.8.1", f"kip-279:{_TODAY},epoch_cache=kafka-7415", "2.0"),
    Rung("2.1.0", "kafka-2.1.0"),
    Rung("2.1.1", "kafka-2.1.1"),
    Rung("2.2.2", "kafka-2.2"),
    Rung("2.3.1", "kafka-2.3"),
    Rung("2.6.0", "kafka-2.6.0"),
    Rung("2.6.1", "kafka-2.6.1"),
    Rung("2.8.1", "kafka-2.6.1", "2.6"),
    Rung("2.7.2", "kafka-2.7"),
    Rung("2.8.0", "kafka-2.8.0"),
    Rung("2.8.1", "kafka-2.8.1"),
    Rung("3.0.2", "kafka-3.0"),
    Rung("3.1.2", "kafka-3.1"),
    Rung("3.4.0", "kafka-3.3"),
    Rung("3.4.1", "kafka-3.4.1"),
    Rung("3.5.0", f"kafka-3.5.0:{_ONE_CALL}"),
    Rung("3.5.1", f"kafka-3.5.1:{_ONE_CALL}"),
    Rung("3.6.2", f"kafka-3.6:{_ONE_CALL}"),
    Rung("3.7.2", "kafka-3.7"),
    Rung("3.9.0", "kafka-3.7"),
    Rung("3.9.2", "kafka-3.9.1"),
    Rung("4.3.1", "kafka-4.1"),
    Rung("4.4.0", "kafka-4.1"),
)


def rungs_of(releases: Collection[str]) -> list[Rung]:
    """Return the rows for some releases, or all rows if no release is named. Raises ReleaseError."""
    for release in releases:
        if release not in RELEASES:
            raise ReleaseError(f"there is no row for Kafka {release}; the releases are {', '.join(RELEASES)}")
    return [rung for rung in RUNGS if not releases or rung.release in releases]
