"""Protocols: a choice for every mechanism. A generation is the choice that some versions of Kafka made.

A generation is declared as what it changes in the one before it.
"""

from dataclasses import dataclass, replace

from epochfuzz.model.mechanisms import (
    MECHANISMS,
    Choice,
    EpochCache,
    Fencing,
    IsrExpansion,
    TruncateWhen,
    Truncation,
)
from epochfuzz.model.names import nearest


class ProtocolError(ValueError):
    """A text that names no protocol; the message lists what there is."""


@dataclass(frozen=True, order=True)
class Protocol:
    """A name, and a choice for each of MECHANISMS, in their order.

    `defect` is 0 but for protocols of the broken set, which have a mistake planted in a rule (harness/defects).
    """

    name: str
    choices: tuple[int, ...]
    defect: int = 0

    def choice(self, mechanism: str) -> Choice:
        """This protocol's choice for a mechanism."""
        return list(MECHANISMS[mechanism])[self.numbers()[mechanism]]

    def numbers(self) -> dict[str, int]:
        """The number of the choice by mechanism, as a state carries it."""
        return dict(zip(MECHANISMS, self.choices, strict=True))

    def changed(self, name: str, *changes: Choice) -> "Protocol":
        """A protocol of another name that makes some other choices."""
        numbers = self.numbers() | {mechanism_of(choice): int(choice) for choice in changes}
        return replace(self, name=name, choices=tuple(numbers.values()))

    def with_choices(self, **choices: str) -> "Protocol":
        """This protocol with some mechanisms replaced, named as its text is. Raises ProtocolError."""
        if not choices:
            return self
        suffix = ",".join(f"{mechanism}={choice}" for mechanism, choice in choices.items())
        changes = [_parse_choice(mechanism, choice) for mechanism, choice in choices.items()]
        return self.changed(f"{self.name}:{suffix}", *changes)


def mechanism_of(choice: Choice) -> str:
    """The name of the mechanism that a choice belongs to."""
    return next(name for name, choices in MECHANISMS.items() if isinstance(choice, choices))


def choice_texts(mechanism: str) -> list[str]:
    """The choices of a mechanism as protocol texts name them, the oldest first."""
    return [choice.text for choice in MECHANISMS[mechanism]]


def _parse_choice(mechanism: str, text: str) -> Choice:
    if mechanism not in MECHANISMS:
        raise ProtocolError(f"unknown mechanism {mechanism!r}; {nearest(mechanism, MECHANISMS, 'the mechanisms are')}")
    texts = choice_texts(mechanism)
    if text not in texts:
        raise ProtocolError(f"unknown choice {text!r} for {mechanism}; {nearest(text, texts, 'the choices are')}")
    return list(MECHANISMS[mechanism])[texts.index(text)]


def ablations(protocol: Protocol) -> list[Protocol]:
    """The protocol with one mechanism switched back, for each mechanism and each earlier choice that it has."""
    return [
        protocol.with_choices(**{mechanism: choice.text})
        for mechanism, choices in MECHANISMS.items()
        for choice in choices
        if choice < protocol.choice(mechanism)
    ]


# Kafka up to 0.10.2. The epoch cache exists here too but nothing reads it.
_HW = Protocol("hw", tuple(0 for _ in MECHANISMS))
# Kafka 0.11 to 1.1.
_KIP_101 = _HW.changed("kip-101", Truncation.LEADER_EPOCH)
# Kafka 2.0.0.
_KIP_279 = _KIP_101.changed("kip-279", Truncation.LEADER_EPOCH_STEPWISE)
# Kafka 2.1 to 2.7.
_KIP_320 = _KIP_279.changed(
    "kip-320", TruncateWhen.EACH_EPOCH, EpochCache.KAFKA_7415, Fencing.EPOCH, IsrExpansion.EPOCH_START
)

GENERATIONS: dict[str, Protocol] = {protocol.name: protocol for protocol in (_HW, _KIP_101, _KIP_279, _KIP_320)}


def parse_protocol(text: str) -> Protocol:
    """The protocol for a text such as `kip-320` or `kip-320:isr_expansion=high_watermark`. Raises ProtocolError."""
    generation, _, changes = text.partition(":")
    if generation not in GENERATIONS:
        known = nearest(generation, GENERATIONS, "the generations are")
        raise ProtocolError(f"unknown protocol {generation!r}; {known}")
    choices = {}
    for change in filter(None, changes.split(",")):
        mechanism, equals, choice = change.partition("=")
        if not equals:
            raise ProtocolError(f"a mechanism is replaced as mechanism=choice; got {change!r}")
        choices[mechanism.strip()] = choice.strip()
    return GENERATIONS[generation].with_choices(**choices)
