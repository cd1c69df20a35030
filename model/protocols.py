"""Mechanisms, and the protocol generations they make.

A protocol is a choice for each of five mechanisms, not a subclass: each can be switched alone. A mechanism's
choices are numbered from 0 in the order written here, and the rules compare against those numbers.
"""

from dataclasses import dataclass

from epochfuzz.model.names import nearest

# truncation: where a follower cuts its log when it starts to follow.
TRUNCATE_TO_HIGH_WATERMARK = 0  # up to Kafka 0.10.2: cut to one's own high watermark
TRUNCATE_BY_LEADER_EPOCH = 1  # KIP-101: ask OffsetsForLeaderEpoch for one's last epoch, cut to the answer
TRUNCATE_BY_LEADER_EPOCH_STEPWISE = 2  # KIP-279: the answer names an epoch both may know; ask again until it does

# truncate_when: which news of a leader other than itself makes a replica truncate.
ON_LEADER_CHANGED = 0
ON_LEADER_CHANGED_OR_EPOCH_MISSED = 1  # KAFKA-7164: a follower that missed an epoch has missed a truncation too
ON_EACH_EPOCH = 2  # KIP-320

# epoch_cache: when the leader epoch cache gets an entry, and what a lookup below its first entry answers.
CACHE_ORIGINAL = 0
CACHE_KAFKA_7415 = 1

# fencing: whether requests between replicas carry the follower's leader epoch, for the leader to refuse.
FENCING_NONE = 0
FENCING_EPOCH = 1  # KIP-320

# isr_expansion: what the leader must see before a replica joins the ISR.
EXPAND_AT_HIGH_WATERMARK = 0
EXPAND_AT_EPOCH_START = 1  # KAFKA-7128

MECHANISMS: dict[str, tuple[str, ...]] = {
    "truncation": ("high_watermark", "leader_epoch", "leader_epoch_stepwise"),
    "truncate_when": ("leader_changed", "leader_changed_or_epoch_missed", "each_epoch"),
    "epoch_cache": ("original", "kafka-7415"),
    "fencing": ("none", "epoch"),
    "isr_expansion": ("high_watermark", "epoch_start"),
}


class ProtocolError(ValueError):
    """A text that names no protocol; the message lists what there is."""


@dataclass(frozen=True, order=True)
class Protocol:
    """One choice of mechanisms. Each field holds the number of the choice in MECHANISMS."""

    name: str
    truncation: int
    truncate_when: int
    epoch_cache: int
    fencing: int
    isr_expansion: int

    def choice(self, mechanism: str) -> str:
        """The name of this protocol's choice for a mechanism."""
        return MECHANISMS[mechanism][getattr(self, mechanism)]

    def with_choices(self, **choices: str) -> "Protocol":
        """This protocol with some mechanisms replaced, named as its text is. Raises ProtocolError."""
        numbers = {mechanism: getattr(self, mechanism) for mechanism in MECHANISMS}
        for mechanism, choice in choices.items():
            if mechanism not in MECHANISMS:
                raise ProtocolError(
                    f"unknown mechanism {mechanism!r}; {nearest(mechanism, MECHANISMS, 'the mechanisms are')}"
                )
            if choice not in MECHANISMS[mechanism]:
                known = nearest(choice, MECHANISMS[mechanism], "the choices are")
                raise ProtocolError(f"unknown choice {choice!r} for {mechanism}; {known}")
            numbers[mechanism] = MECHANISMS[mechanism].index(choice)
        suffix = ",".join(f"{mechanism}={choice}" for mechanism, choice in choices.items())
        return Protocol(f"{self.name}:{suffix}" if suffix else self.name, **numbers)


def ablations(protocol: Protocol) -> list[Protocol]:
    """The protocol with one mechanism switched back, for each mechanism and each earlier choice that it has."""
    return [
        protocol.with_choices(**{mechanism: choice})
        for mechanism, choices in MECHANISMS.items()
        for choice in choices[: getattr(protocol, mechanism)]
    ]


def _generation(name: str, *choices: str) -> Protocol:
    numbers = {m: MECHANISMS[m].index(choice) for m, choice in zip(MECHANISMS, choices, strict=True)}
    return Protocol(name, **numbers)


GENERATIONS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        # Kafka up to 0.10.2. The epoch cache exists here too but nothing reads it.
        _generation("hw", "high_watermark", "leader_changed", "original", "none", "high_watermark"),
        # Kafka 0.11 to 1.1.
        _generation("kip-101", "leader_epoch", "leader_changed", "original", "none", "high_watermark"),
        # Kafka 2.0.0.
        _generation("kip-279", "leader_epoch_stepwise", "leader_changed", "original", "none", "high_watermark"),
        # Kafka 2.1 to 2.7.
        _generation("kip-320", "leader_epoch_stepwise", "each_epoch", "kafka-7415", "epoch", "epoch_start"),
    )
}


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
