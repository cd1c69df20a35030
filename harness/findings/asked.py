"""Asked: what an exhaustive search is to find out, of which protocol and within which bounds."""

import json
from dataclasses import asdict, dataclass, field, fields

from epochfuzz.harness.version import epochfuzz_version, model_digest
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol


@dataclass(frozen=True)
class Asked:
    """A search for a schedule of at most `depth` events (None: any length) that breaks the property that is `sought`.

    `symmetric`: one state may stand for all that differ in the names of replicas. `model` is the digest of the rules.
    """

    protocol: Protocol
    settings: Configuration
    sought: str
    depth: int | None = None
    symmetric: bool = True
    model: str = field(default_factory=model_digest)
    version: str = field(default_factory=epochfuzz_version)

    @property
    def wanted(self) -> int:
        """What is sought, as a set of properties."""
        return properties.set_of((self.sought,))

    @property
    def heading(self) -> str:
        """What is searched, in a line."""
        return f"{self.protocol.name} · {self.sought} · {self.settings.text()}"

    def text(self) -> str:
        """Return this as text, the same for equal searches."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return json.dumps(values | {"protocol": self.protocol.name, "settings": asdict(self.settings)}, sort_keys=True)

    @staticmethod
    def from_text(text: str) -> "Asked":
        """Return what a text asks for. Raises ValueError."""
        values = json.loads(text)
        protocol, settings = parse_protocol(values.pop("protocol")), Configuration(**values.pop("settings"))
        return Asked(protocol, settings, **values)
