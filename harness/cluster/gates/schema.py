"""Encode and decode Kafka's messages according to the JSON definitions in a release's jars.

https://github.com/apache/kafka/blob/trunk/clients/src/main/resources/common/message/README.md describes the format of
the definitions.
"""

import json
import re
import struct
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.cluster.record_format.fields import Bytes, MalformedBytes, varint

_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
_NEVER = range(0)
_LAST = 1 << 15
_NUMBERS = {
    "bool": ">?",
    "int8": ">b",
    "int16": ">h",
    "uint16": ">H",
    "int32": ">i",
    "uint32": ">I",
    "int64": ">q",
    "float64": ">d",
}
_UUID_SIZE = 16


def versions(text: str | None) -> range:
    """Return the range of versions that a text in a definition means, such as `12+`, `0-3`, `7` or `none`."""
    if text is None or text == "none":
        return _NEVER
    first, separator, last = text.rstrip("+").partition("-")
    if text.endswith("+"):
        return range(int(first), _LAST)
    return range(int(first), int(last if separator else first) + 1)


class Definition:
    """The definition of a message. It converts between the bytes of the message and a dictionary of its fields."""

    def __init__(self, definition: dict[str, Any]) -> None:
        self.name: str = definition["name"]
        self.key: int = definition.get("apiKey", -1)
        self.flexible = versions(definition.get("flexibleVersions"))
        valid = versions(definition["validVersions"])
        self.latest = valid[-2] if definition.get("latestVersionUnstable") and len(valid) > 1 else valid[-1]
        shared = {each["name"]: each["fields"] for each in definition.get("commonStructs", ())}
        self._fields = [_Field(each, shared) for each in definition["fields"]]

    def decode(self, data: bytes, version: int) -> dict[str, Any]:
        """Return the fields of a message from its bytes. Raises ValueError for invalid data."""
        try:
            return _read_fields(_Reader(data), self._fields, version, version in self.flexible)
        except (MalformedBytes, UnicodeDecodeError) as error:
            raise ValueError(f"this is not a {self.name} of version {version}: {error}") from None

    def encode(self, values: dict[str, Any], version: int) -> bytes:
        """Return the bytes of a message from its fields. A missing field gets its default value."""
        out = bytearray()
        _write_fields(out, self._fields, values, version, version in self.flexible)
        return bytes(out)


@dataclass(frozen=True)
class Messages:
    """The definitions of a release: requests and responses by API key, and metadata records by record type."""

    requests: dict[int, Definition]
    responses: dict[int, Definition]
    records: dict[int, Definition]

    @staticmethod
    def of(class_path: tuple[str, ...]) -> "Messages":
        """Read the definitions from the jars of a class path. Raises ClusterError."""
        kinds: dict[str, dict[int, Definition]] = {"request": {}, "response": {}, "metadata": {}}
        for jar in _jars(class_path):
            for text in _definitions(jar):
                definition = json.loads(_COMMENT.sub("", text))
                if definition["type"] in kinds and "apiKey" in definition and definition["validVersions"] != "none":
                    kinds[definition["type"]][definition["apiKey"]] = Definition(definition)
        if not all(kinds.values()):
            raise ClusterError(
                "the jars of this Kafka lack kafka-clients, which defines its messages; unpack the distribution again"
            )
        return Messages(kinds["request"], kinds["response"], kinds["metadata"])


def _jars(class_path: tuple[str, ...]) -> Iterator[Path]:
    for entry in class_path:
        found = sorted(Path(entry[:-1]).glob("kafka-*.jar")) if entry.endswith("*") else [Path(entry)]
        yield from (jar for jar in found if jar.name.startswith(("kafka-clients-", "kafka-metadata-")))


def _definitions(jar: Path) -> Iterator[str]:
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.startswith(("common/message/", "common/metadata/")) and name.endswith(".json"):
                yield archive.read(name).decode()


class _Field:
    """A field in the definition of a message or of a nested structure."""

    def __init__(self, definition: dict[str, Any], shared: dict[str, Any]) -> None:
        self.name: str = definition["name"]
        self.type: str = definition["type"]
        self.versions = versions(definition["versions"])
        self.nullable = versions(definition.get("nullableVersions"))
        self.tagged = versions(definition.get("taggedVersions"))
        self.tag: int = definition.get("tag", -1)
        self._flexible = definition.get("flexibleVersions")
        self._default = definition.get("default")
        self.item = self.type.removeprefix("[]")
        self._definition, self._shared = definition, shared

    @cached_property
    def fields(self) -> list["_Field"]:
        """The fields of the nested structure. Empty if this field is not a structure."""
        return [_Field(each, self._shared) for each in self._definition.get("fields", self._shared.get(self.item, ()))]

    def is_compact(self, flexible: bool) -> bool:
        """Return whether the length of the field is encoded as a varint."""
        return flexible and self._flexible != "none"

    @property
    def default(self) -> Any:
        """The value of the field if a message leaves it out."""
        if self._default == "null":
            return None
        if self.type.startswith("[]"):
            return []
        if self.type in _NUMBERS:
            text = str(self._default or 0)
            return text == "true" if self.type == "bool" else float(text) if self.type == "float64" else int(text, 0)
        return {"string": self._default or "", "uuid": uuid.UUID(int=0), "bytes": b"", "records": None}.get(
            self.type, {}
        )


class _Reader(Bytes):
    def number_of(self, kind: str) -> Any:
        layout = _NUMBERS[kind]
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]


def _read_fields(reader: _Reader, fields: list[_Field], version: int, flexible: bool) -> dict[str, Any]:
    there = [each for each in fields if version in each.versions]
    found = {each.name: each.default for each in there}
    for each in there:
        if version not in each.tagged:
            found[each.name] = _read(reader, each, version, flexible)
    if flexible:
        tags = {each.tag: each for each in there if version in each.tagged}
        for _ in range(reader.unsigned()):
            tag = reader.unsigned()
            data = reader.take(reader.unsigned())
            if tag in tags:
                found[tags[tag].name] = _read(_Reader(data), tags[tag], version, flexible)
    return found


def _read(reader: _Reader, field: _Field, version: int, flexible: bool) -> Any:
    compact = field.is_compact(flexible)
    if field.type.startswith("[]"):
        count = reader.unsigned() - 1 if compact else reader.number_of("int32")
        return None if count < 0 else [_read_one(reader, field, version, flexible) for _ in range(count)]
    if field.type not in _NUMBERS and field.fields and version in field.nullable and reader.number_of("int8") < 0:
        return None
    return _read_one(reader, field, version, flexible)


def _read_one(reader: _Reader, field: _Field, version: int, flexible: bool) -> Any:
    kind = field.item
    if kind in _NUMBERS:
        return reader.number_of(kind)
    if kind == "uuid":
        return uuid.UUID(bytes=reader.take(_UUID_SIZE))
    if kind in ("string", "bytes", "records"):
        if field.is_compact(flexible):
            size = reader.unsigned() - 1
        else:
            size = reader.number_of("int16" if kind == "string" else "int32")
        if size < 0:
            return None
        data = reader.take(size)
        return data.decode() if kind == "string" else data
    return _read_fields(reader, field.fields, version, flexible)


def _write_fields(out: bytearray, fields: list[_Field], values: dict[str, Any], version: int, flexible: bool) -> None:
    there = [each for each in fields if version in each.versions]
    for each in there:
        if version not in each.tagged:
            _write(out, each, values.get(each.name, each.default), version, flexible)
    if flexible:
        tags = [each for each in there if version in each.tagged and _is_said(each, values)]
        out += varint(len(tags))
        for each in sorted(tags, key=lambda each: each.tag):
            data = bytearray()
            _write(data, each, values[each.name], version, flexible)
            out += varint(each.tag)
            out += varint(len(data))
            out += data


def _is_said(field: _Field, values: dict[str, Any]) -> bool:
    return field.name in values and values[field.name] != field.default


def _write(out: bytearray, field: _Field, value: Any, version: int, flexible: bool) -> None:
    if field.type.startswith("[]"):
        _write_length(out, field, value, flexible, "int32")
        for each in value or ():
            _write_one(out, field, each, version, flexible)
        return
    if field.type not in _NUMBERS and field.fields and version in field.nullable:
        out += struct.pack(">b", -1 if value is None else 1)
        if value is None:
            return
    _write_one(out, field, value, version, flexible)


def _write_length(out: bytearray, field: _Field, value: Any, flexible: bool, kind: str) -> None:
    if field.is_compact(flexible):
        out += varint(0 if value is None else len(value) + 1)
    else:
        out += struct.pack(_NUMBERS[kind], -1 if value is None else len(value))


def _write_one(out: bytearray, field: _Field, value: Any, version: int, flexible: bool) -> None:
    kind = field.item
    if kind in _NUMBERS:
        out += struct.pack(_NUMBERS[kind], value)
    elif kind == "uuid":
        out += value.bytes
    elif kind in ("string", "bytes", "records"):
        data = value.encode() if isinstance(value, str) else value
        _write_length(out, field, data, flexible, "int16" if kind == "string" else "int32")
        out += data or b""
    else:
        _write_fields(out, field.fields, value, version, flexible)
