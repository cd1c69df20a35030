"""Protocols: a protocol has one choice for every mechanism of Kafka's replication.

A reference design, such as `kip-320`, is a protocol as its KIP intended it, with all fixes. This module declares each
reference design by its changes to the previous design. A release, such as `kafka-2.6.1`, is a protocol as it shipped,
with its flaws. This module declares each release by its differences from a reference design.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING

from epochfuzz.model.kafka.vocabulary import versions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.in_force import applies, choices_of
from epochfuzz.model.kafka.vocabulary.mechanisms import (
    ALTERNATIVES,
    MECHANISMS,
    BelowLogStart,
    CacheTruncation,
    Choice,
    ConsumerEpochEnd,
    ConsumerPosition,
    ConsumerRestart,
    ControllerRequests,
    ControllerWrites,
    DivergingFetch,
    DivergingHighWatermark,
    EffectiveIsr,
    EligibleLeaders,
    EpochCache,
    Fencing,
    FollowerFenceEpoch,
    FollowerHighWatermark,
    HighWatermarkGate,
    HighWatermarkTruncation,
    Idempotence,
    IsrAnswer,
    IsrChange,
    IsrDuplicate,
    IsrEligibility,
    IsrError,
    IsrExpansion,
    IsrQueue,
    IsrRefresh,
    IsrVersion,
    LastFetchedEpoch,
    LastKnownLeader,
    LateAnswer,
    LateRequest,
    Leaderless,
    OutOfRange,
    PendingProduce,
    ProducerBump,
    ProducerSnapshot,
    Registration,
    RemoteLeo,
    RemoteLeoOutOfRange,
    StableOffset,
    StaleController,
    TruncateWhen,
    Truncation,
    UnknownProducer,
)
from epochfuzz.model.kafka.vocabulary.names import nearest

if TYPE_CHECKING:
    from epochfuzz.model.core.model import Model


class ProtocolError(ValueError):
    """A text does not name a protocol, mechanism or choice; the message suggests names."""


@dataclass(frozen=True, order=True)
class Protocol:
    """A protocol: its name, and the number of one choice for each mechanism, in the order of MECHANISMS.

    `defect` is the number of a mutant, a deliberate mistake in the rules (harness/lab/mutants); 0 for none.
    """

    name: str
    choices: tuple[int, ...]
    defect: int = 0

    @property
    def is_named(self) -> bool:
        """True for a reference design, release or version; False with replaced mechanisms or a mutant."""
        return ":" not in self.name

    @property
    def model(self) -> "Model":
        """Kafka's model. The property imports it at the first use, because the model imports this module."""
        kafka: Model = import_module("epochfuzz.model.kafka.kafka_model").KAFKA
        return kafka

    def choice(self, mechanism: str) -> Choice:
        """Return this protocol's choice for a mechanism."""
        return list(MECHANISMS[mechanism])[self.numbers()[mechanism]]

    def has(self, choices: Iterable[str]) -> bool:
        """Return whether the protocol makes all the given choices, such as `fencing=none`. Raises ProtocolError."""
        return self.choices == self.with_choices(**dict(choice.split("=", 1) for choice in choices)).choices

    def numbers(self) -> dict[str, int]:
        """Return the number of the choice for each mechanism, by the mechanism's name."""
        return dict(zip(MECHANISMS, self.choices, strict=True))

    @property
    def constants(self) -> SimpleNamespace:
        """The numbers of the choices as attributes, such as `constants.fencing`."""
        return SimpleNamespace(**self.numbers())

    def changed(self, name: str, *changes: Choice) -> "Protocol":
        """Return this protocol with the given name and the given choices. All other choices stay."""
        numbers = self.numbers() | {mechanism_of(choice): int(choice) for choice in changes}
        return replace(self, name=name, choices=tuple(numbers.values()))

    def with_choices(self, **choices: str) -> "Protocol":
        """Return a protocol with some choices replaced, such as `fencing="none"`. Raises ProtocolError.

        The name of the new protocol lists the replaced choices: `kip-320:fencing=none`.
        """
        if not choices:
            return self
        suffix = ",".join(f"{mechanism}={choice}" for mechanism, choice in choices.items())
        changes = [_parse_choice(mechanism, choice) for mechanism, choice in choices.items()]
        return self.changed(f"{self.name}:{suffix}", *changes)


def mechanism_of(choice: Choice) -> str:
    """Return the name of the mechanism that a choice belongs to."""
    return _MECHANISMS[type(choice)]


_MECHANISMS = {choices: name for name, choices in MECHANISMS.items()}


def choice_texts(mechanism: str) -> list[str]:
    """Return the names of a mechanism's choices, such as `none` and `epoch` for `fencing`, the oldest first."""
    return [choice.text for choice in MECHANISMS[mechanism]]


def _parse_choice(mechanism: str, text: str) -> Choice:
    if mechanism not in MECHANISMS:
        raise ProtocolError(f"unknown mechanism {mechanism!r}; {nearest(mechanism, MECHANISMS, 'the mechanisms are')}")
    texts = choice_texts(mechanism)
    if text not in texts:
        raise ProtocolError(f"unknown choice {text!r} for {mechanism}; {nearest(text, texts, 'the choices are')}")
    return list(MECHANISMS[mechanism])[texts.index(text)]


def ablations(protocol: Protocol, settings: Configuration) -> list[Protocol]:
    """Return all protocols that differ from the given protocol in one mechanism, by an earlier choice.

    In the list of a mechanism's choices, an earlier choice is older or worse. Mechanisms without any effect under these
    settings are left out, and so are mechanisms whose choices are all sound.
    """
    constants = SimpleNamespace(**protocol.numbers(), **settings.numbers())
    return [
        protocol.with_choices(**{mechanism: choice.text})
        for mechanism in MECHANISMS
        if mechanism not in ALTERNATIVES and applies(mechanism, constants)
        for choice in choices_of(mechanism, constants)
        if choice < protocol.choice(mechanism)
    ]


# Kafka up to 0.10.2. The model keeps the epoch cache here too, but no rule of this protocol reads it.
_HW = Protocol("hw", tuple(0 for _ in MECHANISMS)).changed(
    "hw",
    RemoteLeo.FORGOTTEN,
    CacheTruncation.ALWAYS,
    HighWatermarkTruncation.LOWERED,
    OutOfRange.CUT,
    RemoteLeoOutOfRange.AS_IT_WAS,
    LateAnswer.SAME_EPOCH,
    DivergingFetch.IGNORED,
    DivergingHighWatermark.IGNORED,
    EffectiveIsr.MAXIMAL,
    IsrVersion.CHECKED,
    IsrAnswer.ADVANCED,
    IsrQueue.SINGLE,
    IsrDuplicate.ANSWERED,
    StaleController.RETRIED,
    PendingProduce.FAILED,
    ControllerWrites.CONTROLLER_EPOCH,
    ControllerRequests.CONTROLLER_EPOCH,
    StableOffset.REPLICATED,
    FollowerHighWatermark.LEADERS,
    LastFetchedEpoch.KEPT,
    UnknownProducer.FIRST_SEQUENCE,
    IsrError.RETRIED,
    ProducerBump.NEXT_RECORD,
    LateRequest.REJECTED,
    BelowLogStart.OUT_OF_RANGE,
    ConsumerEpochEnd.LEADER,
    ProducerSnapshot.EVERY_RECORD,
)
# Kafka 0.11 to 1.1. Kafka 0.11 also brought the idempotent producer (KIP-98).
_KIP_101 = _HW.changed("kip-101", Truncation.LEADER_EPOCH, Idempotence.SEQUENCE)
# Kafka 2.0.
_KIP_279 = _KIP_101.changed("kip-279", Truncation.LEADER_EPOCH_STEPWISE)
# Kafka 2.1 to 2.6.
_KIP_320 = _KIP_279.changed(
    "kip-320",
    TruncateWhen.EACH_EPOCH,
    EpochCache.KAFKA_7415,
    Fencing.EPOCH,
    IsrExpansion.EPOCH_START,
    Registration.FENCED,
    ConsumerPosition.OFFSET_AND_EPOCH,
    ConsumerRestart.NEWER_METADATA,
)
# Kafka 2.7, on ZooKeeper.
_KIP_497 = _KIP_320.changed("kip-497", IsrChange.REQUEST)
# Kafka 2.8.
_KIP_595 = _KIP_497.changed("kip-595", Truncation.ON_FETCH)
# Kafka 3.3, without ZooKeeper.
_KIP_841 = _KIP_595.changed(
    "kip-841", Leaderless.OBEYED, IsrEligibility.ALIVE, IsrRefresh.METADATA, IsrDuplicate.REFUSED
)
# Kafka 3.5 and 3.6.
_KIP_903 = _KIP_841.changed("kip-903", IsrEligibility.INCARNATION, FollowerFenceEpoch.KEPT)
# Kafka 3.7 to 4.0.
_MIN_ISR_GATE = _KIP_903.changed("min-isr-gate", HighWatermarkGate.MIN_ISR)
# Kafka 4.1, new clusters.
_KIP_966 = _MIN_ISR_GATE.changed("kip-966", EligibleLeaders.TRACKED, LastKnownLeader.ALIVE)

GENERATIONS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        _HW,
        _KIP_101,
        _KIP_279,
        _KIP_320,
        _KIP_497,
        _KIP_595,
        _KIP_841,
        _KIP_903,
        _MIN_ISR_GATE,
        _KIP_966,
    )
}

# Choices of releases that differ from their reference design. A name contains the last or the first version with them.
_SINCE_0_11 = (ProducerSnapshot.LAST_RECORD,)  # ProducerStateManager.writeSnapshot
_TO_3_5 = (LateRequest.ACCEPTED,)
_TO_2_3 = (HighWatermarkTruncation.KEPT, RemoteLeoOutOfRange.UNKNOWN, *_TO_3_5)
_TO_2_1_0 = (LateAnswer.SAME_LEADER,)  # KAFKA-7786
_TO_2_0_1 = (*_TO_2_3, ControllerWrites.VERSIONED, *_TO_2_1_0)
_TO_2_0_0 = (*_TO_2_0_1, OutOfRange.HALT)
_TO_2_2 = (ConsumerPosition.OFFSET, ConsumerRestart.OFFSET)
_TO_2_6_0 = (CacheTruncation.WITH_LOG, *_SINCE_0_11, *_TO_3_5)
_TO_2_8 = (IsrQueue.CLEARED_BY_NEWS,)  # Partition.makeLeader calls AlterIsrManager.clearPending, in 2.8.2 too
_TO_3_0 = (IsrAnswer.HIGH_WATERMARK_KEPT, IsrError.STUCK, *_TO_3_5)
_TO_3_2_0 = (IsrError.TAKEN_BACK,)  # from 3.1.0 on, Partition.submitAlterIsr (KAFKA-14010)
_TO_3_4_0 = (DivergingHighWatermark.APPLIED, *_TO_3_5)
_TO_4_0 = (LateAnswer.SAME_LEADER,)
_SINCE_2_3 = (RemoteLeo.KEPT, ConsumerPosition.END_OFFSET, ConsumerRestart.VALIDATED)
_SINCE_2_5 = (*_SINCE_2_3, UnknownProducer.ANY_SEQUENCE, *_SINCE_0_11)
_SINCE_2_7 = (*_SINCE_2_5, IsrAnswer.ADVANCED_WHEN_APPLIED)
_SINCE_3_6 = (*_SINCE_2_7, LateRequest.VERIFIED)  # KAFKA-14402
_3_5_1_TO_3_6 = (LastFetchedEpoch.LOST,)  # KAFKA-15080 brought KAFKA-15510

_KAFKA_2_1_1 = _KIP_320.changed("kafka-2.1.1", RemoteLeo.KEPT, Registration.RESUME, *_TO_2_2, *_TO_2_3, *_TO_2_6_0)
_KAFKA_3_5_0 = _KIP_903.changed(
    "kafka-3.5.0", *_SINCE_2_7, *_TO_4_0, *_TO_3_5, IsrEligibility.INCARNATION_RACY, FollowerFenceEpoch.BUMPED
)

RELEASES: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        _HW.changed("kafka-0.10.2", RemoteLeo.KEPT, *_TO_2_0_0),
        _KIP_101.changed("kafka-1.1", RemoteLeo.KEPT, *_TO_2_0_0, *_TO_2_6_0),
        _KIP_279.changed("kafka-2.0.0", RemoteLeo.KEPT, *_TO_2_0_0, *_TO_2_6_0),
        _KIP_279.changed(
            "kafka-2.0.1",
            RemoteLeo.KEPT,
            TruncateWhen.LEADER_CHANGED_OR_EPOCH_MISSED,
            EpochCache.KAFKA_7415,
            IsrExpansion.EPOCH_START,
            *_TO_2_0_1,
            *_TO_2_6_0,
        ),
        _KAFKA_2_1_1.changed("kafka-2.1.0", *_TO_2_1_0),
        _KAFKA_2_1_1,
        _KIP_320.changed("kafka-2.2", RemoteLeo.KEPT, *_TO_2_2, *_TO_2_3, *_TO_2_6_0),
        _KIP_320.changed("kafka-2.3", *_SINCE_2_3, *_TO_2_3, *_TO_2_6_0),
        _KIP_320.changed("kafka-2.4", *_SINCE_2_3, *_TO_2_6_0),
        _KIP_320.changed("kafka-2.6.0", *_SINCE_2_5, *_TO_2_6_0),
        _KIP_320.changed("kafka-2.6.1", *_SINCE_2_5, *_TO_3_5),
        _KIP_497.changed("kafka-2.7", *_SINCE_2_7, *_TO_2_8, *_TO_3_0),
        _KIP_595.changed(
            "kafka-2.8.0",
            *_SINCE_2_7,
            *_TO_4_0,
            *_TO_3_4_0,
            *_TO_3_0,
            *_TO_2_8,
            LateAnswer.DIVERGING_ANY,
            DivergingFetch.COUNTED,
            BelowLogStart.DIVERGING,
        ),
        _KIP_595.changed("kafka-2.8.1", *_SINCE_2_7, *_TO_4_0, *_TO_3_4_0, *_TO_3_0, *_TO_2_8),
        _KIP_595.changed("kafka-3.0", *_SINCE_2_7, *_TO_4_0, *_TO_3_4_0, *_TO_3_0),
        _KIP_595.changed("kafka-3.1", *_SINCE_2_7, *_TO_4_0, *_TO_3_4_0, *_TO_3_2_0),
        _KIP_595.changed("kafka-3.2.1", *_SINCE_2_7, *_TO_4_0, *_TO_3_4_0),
        _KIP_841.changed("kafka-3.3", *_SINCE_2_7, *_TO_4_0, *_TO_3_4_0),
        _KIP_841.changed("kafka-3.4.1", *_SINCE_2_7, *_TO_4_0, *_TO_3_5),
        _KAFKA_3_5_0,
        _KAFKA_3_5_0.changed("kafka-3.5.1", *_3_5_1_TO_3_6),
        _KIP_903.changed("kafka-3.6", *_SINCE_3_6, *_TO_4_0, IsrEligibility.INCARNATION_RACY, *_3_5_1_TO_3_6),
        _MIN_ISR_GATE.changed("kafka-3.7", *_SINCE_3_6, *_TO_4_0),
        _MIN_ISR_GATE.changed("kafka-3.9.1", *_SINCE_3_6),
        _KIP_966.changed("kafka-4.1", *_SINCE_2_7, LateRequest.RECORD_REJECTED),
    )
}

# Other systems that implement Kafka's protocol. Each name contains the version of the system. These protocols are
# releases like Kafka's, but the table of releases does not list them, because that table is about Kafka.
#
# Apache Fluss: Kafka's replica code of 3.x, without leader epochs between replicas. Its coordinator sends no update
# without a leader if a replica can be elected, and notices the end of every session (CoordinatorEventProcessor).
_FLUSS = _HW.changed(
    "fluss-0.9.1",
    TruncateWhen.EACH_EPOCH,
    FollowerHighWatermark.OWN_END,
    LateAnswer.SAME_LEADER,
    Registration.FENCED,
    IsrChange.REQUEST,
    IsrAnswer.ADVANCED_WHEN_APPLIED,
    IsrDuplicate.REFUSED,
    IsrEligibility.ALIVE,
    HighWatermarkGate.MIN_ISR,
)
OTHER_SYSTEMS: dict[str, Protocol] = {_FLUSS.name: _FLUSS}
NAMED = GENERATIONS | RELEASES | OTHER_SYSTEMS


def parse_protocol(text: str) -> Protocol:
    """Return the protocol for a text such as `kip-320`, `kafka-4.3.1`, `kip-320:fencing=none`. Raises ProtocolError."""
    name, _, changes = text.partition(":")
    base = _named(name)
    choices = {}
    for change in filter(None, changes.split(",")):
        mechanism, equals, choice = change.partition("=")
        if not equals:
            raise ProtocolError(f"a mechanism is replaced as mechanism=choice; got {change!r}")
        choices[mechanism.strip()] = choice.strip()
    return base.with_choices(**choices)


def _named(name: str) -> Protocol:
    """Return the protocol with a name. For a Kafka version, return the protocol of its release, renamed to the version.

    Raises ProtocolError.
    """
    if name in NAMED:
        return NAMED[name]
    if not name.startswith(versions.PREFIX):
        raise ProtocolError(f"unknown protocol {name!r}; {nearest(name, NAMED, 'the protocols are')}")
    try:
        return replace(NAMED[versions.release_of(name)], name=name)
    except versions.UnknownVersion as error:
        raise ProtocolError(f"unknown protocol: {error}") from None
