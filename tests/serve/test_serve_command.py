"""`epochfuzz serve` as a process, and its messages about wrong input."""

import json
import signal
import socket
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from epochfuzz.harness.cli.main import app
from epochfuzz.harness.cli.output import BadInput
from epochfuzz.harness.lab import schemas
from tests.serve.asking import PATIENCE

SERVE = [sys.executable, "-m", "epochfuzz", "serve", "--port", "0"]


def refusal(*words: str) -> str:
    result = CliRunner().invoke(app, ["serve", *words])
    assert isinstance(result.exception, BadInput)
    return str(result.exception)


def test_serve_applies_events_from_standard_input_and_exits_at_ctrl_c() -> None:
    with subprocess.Popen([*SERVE, "--json"], stdin=-1, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        assert process.stderr.readline().startswith("serving epochfuzz at 127.0.0.1:")
        text = "".join(iter(process.stdout.readline, "}\n")) + "}"
        schemas.check("serve", text)
        address, _, _ = json.loads(text)["bootstrap"].partition(",")
        host, port = address.split(":")
        socket.create_connection((host, int(port)), PATIENCE).close()
        process.stdin.write("crash A\n\nreceive A\nbogus A\nproduce B\n")
        process.stdin.flush()
        lines = [process.stderr.readline().strip() for _ in range(4)]
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ""
    assert lines[:2] == ["crash A", "receive A: not enabled, because nothing is in flight to A"]
    assert lines[2].startswith("unknown event 'bogus'")
    assert lines[3] == "produce B: a client causes this event; connect one"


def test_serve_names_a_port_that_is_not_available() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert refusal("--port", port).startswith(f"--port: {port} or a port after it is not available")


def test_serve_rejects_configuration_options_if_a_case_is_given() -> None:
    assert refusal("m1-loss", "--replicas", "3").startswith("the case sets the configuration")


def test_serve_rejects_transactions() -> None:
    assert refusal("--transactions") == "transactions can't be served yet; leave --transactions out"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--exhaustive"], "exhaustive can't be combined with --client"),
        (["--transactions"], "transactions can't be combined with --client"),
        (["--judge", "lock-step"], "--client needs --judge promises"),
    ],
)
def test_conform_rejects_options_that_cannot_be_combined_with_the_option_client(words: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["conform", "--client", *words, "--", "true"])
    assert message in str(result.exception)
