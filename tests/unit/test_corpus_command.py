"""`corpus add`: what it says for programs."""

import json
from pathlib import Path

from typer.testing import CliRunner

from harness.case import load_case
from harness.cli import app

M1_LOSS = Path(__file__).parents[2] / "corpus" / "documents" / "m1-loss.yaml"


def add(corpus: Path, *options: str, answer: str = "") -> str:
    result = CliRunner().invoke(app, ["corpus", "add", str(M1_LOSS), "--corpus", str(corpus), *options], input=answer)
    assert result.exception is None, result.output
    return result.stdout


def test_a_case_is_added_once_and_then_known(tmp_path):
    file = tmp_path / "found" / "m1-loss.yaml"
    assert json.loads(add(tmp_path, "--yes", "--json")) == {"added": [str(file)], "known": {}}
    assert load_case(file) == load_case(M1_LOSS)
    assert json.loads(add(tmp_path, "--yes", "--json")) == {"added": [], "known": {"m1-loss": str(file)}}


def test_a_case_is_added_only_if_that_is_confirmed(tmp_path):
    add(tmp_path, answer="n\n")
    assert not (tmp_path / "found").exists()
    add(tmp_path, answer="y\n")
    assert (tmp_path / "found" / "m1-loss.yaml").exists()
