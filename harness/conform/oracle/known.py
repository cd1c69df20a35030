"""Failures that an implementer has accepted (`--known FILE`): differences from the model, and broken properties."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS, verb_of
from epochfuzz.model.kafka.vocabulary.goals import NAMES as GOALS
from epochfuzz.model.kafka.vocabulary.protocols import NAMED, Protocol, ProtocolError, parse_protocol

ANY = "any"  # stands for every field


class KnownError(ValueError):
    """A file of known differences is not valid. The message names the error."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """An accepted difference: `field` may differ from the model after a verb in `after`. `why` is the reason.

    `field` is the name of a field without its replica, such as `epochs`, or of a property, which may then be broken.
    The special name ANY means every field, but no property. The special name `died` means that the adapter exits after
    it has printed `output`. The entry is valid under `protocols`, or under all protocols if `protocols` is empty.
    `choices` lists choices that the protocol must have, such as `late_answer=same_leader`. `met` lists coverage goals
    that the model must have met at the time of the difference.
    """

    field: str
    after: tuple[str, ...]
    why: str
    protocols: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    output: str = ""
    met: tuple[str, ...] = ()

    def covers(self, fault: Discrepancy, sent: bytes, protocol: Protocol, settings: Configuration) -> bool:
        """Return whether this entry accepts a discrepancy. `sent` has the events up to the discrepancy."""
        return (
            self._is_of(fault)
            and bool(sent)
            and verb_of(sent[-1]).text in self.after
            and (not self.protocols or protocol.name.partition(":")[0] in self.protocols)
            and protocol.has(self.choices)
            and _meets(self.met, sent, protocol, settings)
        )

    def _is_of(self, fault: Discrepancy) -> bool:
        if self.field == DiscrepancyKind.DIED:
            return fault.kind is DiscrepancyKind.DIED and self.output in fault.output
        if self.field in properties.NAMES:
            return fault.kind is DiscrepancyKind.PROMISE and self.field == fault.field
        return fault.kind is DiscrepancyKind.DIFFERENCE and self.field in (ANY, fault.signature[1])

    def document(self) -> dict[str, Any]:
        """Return this entry as plain data."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def _meets(wanted: Sequence[str], sent: bytes, protocol: Protocol, settings: Configuration) -> bool:
    """Return whether a schedule meets all wanted coverage goals in the model."""
    met = Execution(protocol, settings, sent).state.goals if wanted else 0
    return all(met >> GOALS.index(name) & 1 for name in wanted)


def of_document(document: Any) -> Known:
    """Convert plain data to the accepted difference that it describes. Ignores additional keys. Raises KnownError."""
    if not isinstance(document, dict):
        raise KnownError(f"a known difference has field, after and why; got {document!r}")
    for key in ("field", "why"):
        if not isinstance(document.get(key), str):
            raise KnownError(f"{key} must be a text; got {document.get(key)!r}")
    after, protocols, met = _texts(document, "after"), _texts(document, "protocols"), _texts(document, "met")
    unknown = [verb for verb in after if verb not in VERBS]
    if unknown or not after:
        wrong = f"{', '.join(unknown)} is no event" if unknown else "name at least one event"
        raise KnownError(f"after: {wrong}; the events are {', '.join(VERBS)}")
    if not_met := [name for name in met if name not in GOALS]:
        raise KnownError(f"met: there is no goal {not_met[0]!r}; the goals are {', '.join(GOALS)}")
    choices, output = _texts(document, "choices"), document.get("output", "")
    if not isinstance(output, str) or (document["field"] == DiscrepancyKind.DIED) != bool(output):
        raise KnownError(f"output: give the printed text for field died, and for no other field; got {output!r}")
    try:
        parse_protocol(":".join((next(iter(NAMED)), ",".join(choices))))
    except ProtocolError as error:
        raise KnownError(f"choices: {error}") from None
    return Known(
        field=document["field"],
        after=after,
        why=" ".join(document["why"].split()),
        protocols=protocols,
        choices=choices,
        output=output,
        met=met,
    )


def load_known(path: Path) -> tuple[Known, ...]:
    """Return the accepted differences in a YAML file. Raises KnownError and OSError."""
    try:
        documents = yaml.safe_load(path.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise KnownError(f"{path}: not YAML: {error}") from None
    if not isinstance(documents, list):
        raise KnownError(f"{path}: not a list of known differences")
    return tuple(of_document(document) for document in documents)


def reason(
    known: Sequence[Known], fault: Discrepancy, sent: bytes, protocol: Protocol, settings: Configuration
) -> str | None:
    """Return the reason (`why`) of the first entry in `known` that accepts a discrepancy, or None if no entry does.

    `sent` has the events up to the discrepancy.
    """
    return next((each.why for each in known if each.covers(fault, sent, protocol, settings)), None)


def _texts(document: dict[str, Any], key: str) -> tuple[str, ...]:
    texts = document.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise KnownError(f"{key} must be a list of texts; got {texts!r}")
    return tuple(texts)
