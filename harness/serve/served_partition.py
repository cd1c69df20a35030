"""The served partition: the model's state, and the content of the records that clients have sent."""

import asyncio
from collections.abc import Iterator

from epochfuzz.harness.serve.batches import Payload, Sent
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract.observation import log_entries
from epochfuzz.model.kafka.history import produce_purgatory, producer_window
from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.storage import idempotence, log
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.effects import Heals
from epochfuzz.model.kafka.vocabulary.event_codes import encode
from epochfuzz.model.kafka.vocabulary.events import Verb
from epochfuzz.model.kafka.vocabulary.mechanisms import UnknownProducer
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, REFUSALS, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Partition

_QUIET_ROUNDS = 3  # rounds without a visible change; a follower may need several requests before it truncates


class ServedPartition:
    """A partition of the model, whose records have the content that clients have sent.

    The model numbers records in the order of their first append. The model has one producer, so all producers share its
    window of records without a final response (producer_window.py).
    """

    def __init__(self, protocol: Protocol, settings: Configuration) -> None:
        self.execution = Execution(protocol, settings)
        # The rules for a producer whose records have no sequence numbers.
        self._plain = Execution(protocol.with_choices(idempotence="none"), settings)
        self._plain.state = self.execution.state
        self.payloads: list[Payload] = []  # by the number of the record
        self._numbers: dict[tuple[int, int, int], int] = {}  # of records, by producer id, epoch and sequence number
        self._producers: dict[int, tuple[int, int]] = {}  # the latest producer id and epoch of records
        self._changed = asyncio.Event()

    @property
    def state(self) -> Partition:
        """The state of the model."""
        state: Partition = self.execution.state
        return state

    async def change(self) -> None:
        """Wait for the next change of the partition, the gate or the clients, which is the next call of `wake`."""
        await self._changed.wait()

    def wake(self) -> None:
        """Wake all tasks that wait in `change`."""
        self._changed.set()
        self._changed = asyncio.Event()

    def apply(self, event: int) -> Refusal:
        """Apply an event of the model. Returns the reason why it is not enabled, or APPLIED."""
        refusal: Refusal = REFUSALS[self.execution.attempt(event)]
        if refusal is APPLIED:
            self.wake()
        return refusal

    def number_of(self, sent: Sent) -> int | None:
        """Return the number of a record that was sent before, or None for a new record.

        The sequence number of an idempotent producer identifies its record. If the producer has a new producer id
        or no sequence numbers, its record counts as sent before if a record with equal content has no response yet.
        """
        if sent.sequence is not None and sent.sequence in self._numbers:
            return self._numbers[sent.sequence]
        for number in range(max(0, len(self.payloads) - producer_window.MOST), len(self.payloads)):
            is_open = not producer_window.is_done(self.state, number)
            if is_open and self.payloads[number] == sent.payload and not self._is_of_producer(number, sent):
                return number
        return None

    def _is_of_producer(self, number: int, sent: Sent) -> bool:
        """Return whether record `number` was last sent with the producer id and producer epoch of `sent`."""
        return sent.sequence is not None and self._producers.get(number) == sent.sequence[:2]

    def is_out_of_order(self, r: int, sent: Sent) -> bool:
        """Return whether leader r rejects a new record, because its producer has not sent the preceding record.

        Since Kafka 2.5, a leader accepts any sequence number from a producer that has no record in the leader's log
        (KIP-360, ProducerAppendInfo.checkSequence).
        """
        if sent.sequence is None or not idempotence.is_on(self.state):
            return False
        producer, epoch, sequence = sent.sequence
        earlier = {each[2]: number for each, number in self._numbers.items() if each[:2] == (producer, epoch)}
        accepts_any = self.state.unknown_producer == UnknownProducer.ANY_SEQUENCE
        if accepts_any and all(self.offset_of(r, number) == NONE for number in earlier.values()):
            return False
        return sequence != max(earlier, default=-1) + 1

    def append(self, r: int, sent: Sent, number: int | None) -> Refusal:
        """Let leader r append a new record, or handle a record that the producer sends again.

        `number` is the record's number, None for a new record. Returns the reason why r rejects the record, or APPLIED.
        """
        is_recognisable = sent.sequence is not None and (number is None or self._is_of_producer(number, sent))
        rules = self.execution if is_recognisable else self._plain
        verb = Verb.PRODUCE if number is None else Verb.RETRY
        refusal: Refusal = REFUSALS[rules.attempt(encode(verb, r))]
        if refusal is APPLIED:
            if number is None:
                number = len(self.payloads)
                self.payloads.append(sent.payload)
            if sent.sequence is not None:
                self._numbers[sent.sequence] = number
                self._producers[number] = sent.sequence[:2]
            self.wake()
        return refusal

    def lose_responses(self) -> None:
        """Remove all waiting produce requests from the model, because the producers' connections have ended."""
        for number in range(len(self.payloads)):
            produce_purgatory.leave(self.state, number)
        self.wake()

    def offset_of(self, r: int, number: int) -> int:
        """Return the offset of a record in the log of r, or NONE if r lacks the record."""
        offset: int = log.offset_of(self.state, r, number)
        return offset

    def has_position(self, r: int, offset: int) -> bool:
        """Return whether an offset is a valid position in r's log: from the log start to the log end, inclusive."""
        return bool(self.state.log_start[r] <= offset <= self.state.leo[r])

    def entries(self, r: int) -> Iterator[tuple[int, Payload]]:
        """Yield the leader epoch and the content of each record in the log of r, from its log start on."""
        for number, epoch in log_entries(self.state, r)[self.state.log_start[r] :]:
            yield epoch, self.payloads[number]

    def leader(self) -> int:
        """Return the replica that presumes leadership in the latest epoch, or NONE if no replica does."""
        p = self.state
        leading = [r for r in range(p.replicas) if presumes_leadership(p, r)]
        return max(leading, key=lambda r: p.known_epoch[r], default=NONE)

    def replicate(self) -> None:
        """Let all replicas learn leader-and-ISR updates, fetch, and change the ISR, until nothing changes any more."""
        start, quiet = _progress(self.state), 0
        while quiet < _QUIET_ROUNDS:
            before = _progress(self.state)
            for verb in Verb:
                if verb.heals in (Heals.LEARN, Heals.ROUND):
                    for r in range(self.state.replicas):
                        self.execution.apply(encode(verb, r))
            quiet = 0 if before != _progress(self.state) else quiet + 1
        if start != _progress(self.state):
            self.wake()


def _progress(p: Partition) -> tuple[list[int], ...]:
    """Return the parts of a state that replication changes."""
    return [*p.known_epoch], [*p.leo], [*p.high_watermark], [*p.isr], [*p.pending_isr], [*p.phase]
