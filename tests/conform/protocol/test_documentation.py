"""The messages of docs/reference/wire-protocol.md and the first Python of docs/how-to/pytest.md are valid."""

import json
from typing import Any

from epochfuzz.harness.conform.protocol import wire
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from tests.conform.running import failures
from tests.documents.pages import blocks, named


def texts(page: str, language: str) -> list[str]:
    return [block.text for block in blocks(named(page), language)]


def test_the_messages_of_the_page_follow_the_wire_protocol() -> None:
    reset, ready, unable, event, applied = texts("reference/wire-protocol.md", "json")
    assert json.loads(reset) == json.loads(wire.reset_request(wire.config_of(Configuration()), "kip-320"))
    assert wire.parse_reset_reply(ready.encode())["ok"]
    assert not wire.parse_reset_reply(unable.encode())["ok"]
    assert json.loads(event) == json.loads(wire.event_request("fetch B"))
    assert set(wire.parse_event_reply(applied.encode())) == {"applied", "observation"}


def test_the_first_python_example_of_the_page_makes_a_test_case_that_passes() -> None:
    example, *_ = texts("how-to/pytest.md", "python")
    names: dict[str, Any] = {}
    exec(example, names)
    assert {name for name in vars(names["OneLeader"]) if not name.startswith("_")} == {"reset", "apply", "observe"}
    assert failures(names["TestOneLeader"], examples=5) == []
