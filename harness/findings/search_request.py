"""The request for an exhaustive search: the property to break, the protocol, and the bounds."""

import json
from dataclasses import asdict, dataclass, field, fields
from shlex import quote
from typing import Any

from epochfuzz.harness.environment.version import epochfuzz_version, model_digest
from epochfuzz.model.core.model import Protocol
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """A request to search for a schedule of at most `depth` events (None: any length) that breaks `sought`.

    `sought` is the name of a property. If `symmetric` is true, one state may represent all states that differ only in
    the names of replicas. `model` is the digest of the rules of Kafka's model.
    """

    protocol: Protocol
    settings: Any
    sought: str
    depth: int | None = None
    symmetric: bool = True
    model: str = field(default_factory=model_digest)
    version: str = field(default_factory=epochfuzz_version)

    @property
    def wanted(self) -> int:
        """The property to break, as a set of properties with one bit set."""
        return self.protocol.model.judgement.set_of(self.sought)

    @property
    def heading(self) -> str:
        """A title for the search, on one line."""
        depth = "" if self.depth is None else f" · at most {self.depth} events"
        symmetry = "" if self.symmetric else " · without symmetry"
        return f"{self.protocol.name} · {self.sought} · {self.settings.text()}{depth}{symmetry}"

    def text(self) -> str:
        """Return the request as JSON text. Equal requests have equal texts."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return json.dumps(values | {"protocol": self.protocol.name, "settings": asdict(self.settings)}, sort_keys=True)

    @staticmethod
    def from_text(text: str) -> "SearchRequest":
        """Return the request for Kafka's model from its JSON text. Raises ValueError for text that is not JSON."""
        values = json.loads(text)
        protocol, settings = parse_protocol(values.pop("protocol")), Configuration(**values.pop("settings"))
        return SearchRequest(protocol=protocol, settings=settings, **values)


def command_to_resume(uri: str) -> str:
    """Return the command that resumes the search in the directory `uri`."""
    return f"epochfuzz explore --resume {quote(uri)}"
