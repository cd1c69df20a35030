"""Guarantees of a client: the properties that a client breaks, while the brokers are the model's own."""

from epochfuzz.harness.conform.oracle.healing import Healed
from epochfuzz.harness.conform.oracle.promises import Promises
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

# The end of a schedule also checks that the client reports no record as acknowledged that no leader acknowledged, see
# conform/client/ending.py.
CLIENT_PROPERTIES = ("no-duplicate", "no-reorder", "consumer-no-skip")


class ClientGuarantees(Promises):
    """Check only CLIENT_PROPERTIES. Losses and divergence are the protocol's own, and `fuzz` finds them."""

    def __init__(self, protocol: Protocol, settings: Configuration) -> None:
        super().__init__(protocol, settings)
        self._known |= properties.set_of(name for name in properties.NAMES if name not in CLIENT_PROPERTIES)

    def not_converged(self, healed: Healed) -> list[Discrepancy]:
        """Return nothing: the brokers are the model's own."""
        return []
