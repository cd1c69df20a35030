"""The oracle for a Kafka client: it checks the properties that a client can break. The model plays the brokers."""

from epochfuzz.harness.conform.oracle.healing import Healed
from epochfuzz.harness.conform.oracle.promises import Promises
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

CLIENT_PROPERTIES = ("no-duplicate", "no-reorder", "consumer-no-skip")
# conform/client/ending.py checks that a leader has acknowledged each record that the client reports as acknowledged.
REPORTED_BY_CLIENTS = ("no-acked-loss", *CLIENT_PROPERTIES)
# The events that happen when a request of a client arrives.
CAUSED_BY_CLIENTS = frozenset(
    (Verb.PRODUCE, Verb.RETRY, Verb.CONSUME, Verb.REFRESH, Verb.COMMIT_OFFSET, Verb.RESET),
)


class ClientGuarantees(Promises):
    """Checks only CLIENT_PROPERTIES. The brokers, and not the client, cause lost committed records and divergence."""

    def __init__(self, protocol: Protocol, settings: Configuration) -> None:
        super().__init__(protocol, settings)
        self._known |= properties.set_of(name for name in properties.NAMES if name not in CLIENT_PROPERTIES)

    def not_converged(self, healed: Healed) -> list[Discrepancy]:
        """Return an empty list, because the model plays the brokers."""
        return []
