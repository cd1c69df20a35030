"""Record batches: read the records of a Produce request, and write the records of a Fetch response."""

from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Any

from kio.records.readers import read_batch
from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_new_batch
from kio.schema.errors import ErrorCode

_ATTRIBUTES = slice(21, 23)  # bytes with the attributes: https://kafka.apache.org/documentation/#recordbatch
_COMPRESSION = 0b111
_TRANSACTIONAL = 1 << 4
_NO_PRODUCER = -1


class BatchError(ValueError):
    """A batch that the partition cannot append. `code` is the error of the response."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


@dataclass(frozen=True)
class Payload:
    """The content of a record."""

    key: bytes | None
    value: bytes | None
    headers: tuple[Any, ...]
    timestamp: datetime

    @property
    def text(self) -> str:
        """The value as text, for reports."""
        return (self.value or b"").decode(errors="replace")


@dataclass(frozen=True)
class Sent:
    """A record that a producer has sent.

    For an idempotent producer, `sequence` has the producer id, the producer epoch and the sequence number. For other
    producers, `sequence` is None.
    """

    payload: Payload
    sequence: tuple[int, int, int] | None


def sent_records(data: bytes) -> list[Sent]:
    """Return the records in the bytes of a record batch. Raises BatchError."""
    attributes = int.from_bytes(data[_ATTRIBUTES])
    if attributes & _COMPRESSION:
        raise BatchError(ErrorCode.unsupported_compression_type)
    if attributes & _TRANSACTIONAL:
        raise BatchError(ErrorCode.invalid_txn_state)
    try:
        batch, _ = read_batch(data, 0)
    except Exception:  # kio raises many kinds of errors for malformed bytes
        raise BatchError(ErrorCode.corrupt_message) from None
    return [
        Sent(
            Payload(record.key, record.value, record.headers, record.timestamp),
            None
            if batch.producer_id == _NO_PRODUCER
            else (batch.producer_id, batch.producer_epoch, batch.base_sequence + number),
        )
        for number, record in enumerate(batch.records)
    ]


def fetched_record(offset: int, epoch: int, payload: Payload) -> bytes:
    """Return the bytes of a batch with one record, written at `offset` by the leader of `epoch`."""
    fields: Any = {"attributes": 0, "timestamp": payload.timestamp, "offset": offset}
    record = Record(**fields, key=payload.key, value=payload.value, headers=payload.headers)
    batch: Any = {"producer_id": _NO_PRODUCER, "producer_epoch": -1, "base_sequence": -1, "attributes": 0}
    buffer = BytesIO()
    write_new_batch(buffer, NewRecordBatch(**batch | {"partition_leader_epoch": epoch, "records": (record,)}))
    return buffer.getvalue()
