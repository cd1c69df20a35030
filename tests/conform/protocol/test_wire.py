"""The conformance protocol: its requests, its replies and their schema."""

import dataclasses
import json

import pytest

from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.wire import MalformedReply
from epochfuzz.model.kafka.vocabulary.configuration import MAX_EPOCHS, MAX_RECORDS, Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS
from tests.conform.running import ROOT

EMPTY = {"up": True, "leo": 0, "hw": 0, "log": [], "epochs": [], "leader": "A", "leader_epoch": 0}


def test_a_reset_request_is_one_line_with_version_protocol_and_every_setting() -> None:
    line = wire.reset_request(wire.config_of(Configuration(replicas=3)), "kip-320")
    assert line.count(b"\n") == 1
    request = json.loads(line)
    assert (request["op"], request["version"], request["protocol"]) == ("reset", 1, "kip-320")
    assert request["config"] == dataclasses.asdict(Configuration(replicas=3))


def test_an_event_request_is_one_line_with_the_text_of_the_event() -> None:
    assert json.loads(wire.event_request("fetch B")) == {"op": "event", "event": "fetch B"}


def test_the_config_of_the_protocol_has_every_setting_of_a_partition_and_no_other() -> None:
    assert set(wire.Config.__annotations__) == {field.name for field in dataclasses.fields(Configuration)}


def test_the_reply_of_the_documentation_is_valid() -> None:
    reply = wire.parse_event_reply(
        json.dumps(
            {
                "applied": True,
                "observation": {
                    "replicas": {"A": EMPTY | {"leo": 1, "log": [["m0", 0]], "epochs": [[0, 0]]}, "B": EMPTY},
                    "controller": {"leader": "A", "epoch": 0, "isr": ["B", "A"]},
                },
            }
        ).encode()
    )
    assert reply["observation"]["replicas"]["A"]["log"] == [("m0", 0)]
    assert reply["observation"]["controller"]["isr"] == ["A", "B"]


def test_a_reply_may_leave_out_the_observation() -> None:
    assert wire.parse_event_reply(b'{"applied": false}') == {"applied": False}


def test_an_adapter_may_reject_a_reset_with_a_reason() -> None:
    assert wire.parse_reset_reply(b'{"ok": false, "error": "no"}') == {"ok": False, "error": "no"}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"starting up", "not JSON: 'starting up'; standard output is for replies only, so write log output to stand"),
        (b"", "not JSON: ''"),
        (b"\xff\xfe", "not JSON: '\ufffd\ufffd'"),
        (b"\x1b[31mred", "not JSON: '\\x1b[31mred'"),
        (b"[" * 100_000, f"not JSON: '{'[' * 200}...'; "),
        (b"[]", "object"),
        (b'{"observation": {}}', "applied"),
        (b'{"applied": 1, "observation": {}}', "applied"),
        (b'{"applied": true, "observation": {"replicas": {"F": {}}}}', "observation.replicas.F"),
        (b'{"applied": true, "observation": {"replicas": {"A": {"hw": "1"}}}}', "observation.replicas.A.hw"),
        (b'{"applied": true, "observation": {"replicas": {"A": {"log": [["m0"]]}}}}', "observation.replicas.A.log.0"),
        (b'{"applied": true, "observation": {"controller": {"leader": "nobody"}}}', "observation.controller.leader"),
    ],
)
def test_a_malformed_reply_to_an_event_is_an_error_that_names_the_place(line: bytes, complaint: str) -> None:
    with pytest.raises(MalformedReply) as refused:
        wire.parse_event_reply(line)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"ok": true, "events": ["fetch", "fetsch"]}', "unknown event 'fetsch'; the events are produce, fetch"),
        (b'{"ok": true, "version": 2}', "version"),
        (b'{"events": []}', "ok"),
    ],
)
def test_a_malformed_reply_to_a_reset_is_an_error_that_names_the_place(line: bytes, complaint: str) -> None:
    with pytest.raises(MalformedReply) as refused:
        wire.parse_reset_reply(line)
    assert complaint in str(refused.value)


def test_an_observation_in_python_that_is_not_json_is_an_error() -> None:
    with pytest.raises(MalformedReply, match="not JSON serializable"):
        wire.check_observation({"replicas": {"A": {"log": {1, 2}}}})


def test_five_replicas_with_full_logs_stay_below_the_limit_of_values() -> None:
    full = EMPTY | {"log": [["m15", 15]] * MAX_RECORDS, "epochs": [[15, 16]] * MAX_EPOCHS}
    observation = {"replicas": dict.fromkeys("ABCDE", full), "controller": {"own": {"x" * 10_000: 1}}}
    line = json.dumps({"applied": True, "observation": observation})
    assert set(wire.parse_event_reply(line.encode())["observation"]["replicas"]) == set("ABCDE")


@pytest.mark.parametrize("own", [{"all": [1] * 2_000}, {"all": {f"key{n}": {} for n in range(2_000)}}])
def test_too_many_values_in_own_fields_are_an_error(own: object) -> None:
    line = json.dumps({"applied": True, "observation": {"controller": {"own": own}}})
    with pytest.raises(MalformedReply, match="more than 2,000 values"):
        wire.parse_event_reply(line.encode())


def test_the_schema_in_the_documentation_matches_the_code() -> None:
    kept = (ROOT / "docs" / "conformance.schema.json").read_text(encoding="utf-8")
    assert kept == json.dumps(wire.schema(), indent=2) + "\n", "python -m epochfuzz.harness.lab.schemas writes it"


def test_the_documentation_names_every_event_and_every_field() -> None:
    reference = ROOT / "docs" / "reference"
    pages = [reference / "wire-protocol.md", reference / "wire-semantics.md"]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    fields = {**wire.ReplicaObservation.__annotations__, **wire.ControllerObservation.__annotations__}
    missing = [name for name in [*fields, *wire.Config.__annotations__] if f"`{name}`" not in text]
    missing += [verb for verb in VERBS if f"| `{verb} " not in text]
    assert missing == []
