"""Campaigns on a user's Spark session leave the session open and have the results of the command."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import epochfuzz
from epochfuzz.harness.campaign.spark import session
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.running import REFERENCE, ROOT, SUBJECT
from tests.documents.pages import named
from tests.engine.test_walk import same

LOGS = ROOT / "tests" / "audit" / "logs"


@pytest.mark.thorough
def test_a_campaign_on_a_users_spark_session_has_the_tally_of_a_local_run(spark: Any, tmp_path: Path) -> None:
    outcome = epochfuzz.campaign(
        spark, out=str(tmp_path), protocols=["hw"], schedules=3_000, seed=7, certify=0, replicas=3
    )
    assert same(outcome.tally, Walker([parse_protocol("hw")], Configuration(replicas=3), 7).walk(0, 3_000))
    assert "no-committed-loss" in [finding.property for finding in outcome.findings]
    assert spark.range(3).count() == 3
    again = epochfuzz.campaign(spark, out=str(tmp_path), protocols=["hw"], schedules=3_000, replicas=3)
    assert same(again.tally, outcome.tally)


@pytest.mark.thorough
def test_conform_on_a_users_spark_session_detects_a_mutant(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["env", f"PYTHONPATH={ROOT}{os.pathsep}{ROOT / 'src'}", *SUBJECT, "--defect", "everyone-is-waited-for"]
    conformance = epochfuzz.conform(spark, command, out=str(tmp_path), schedules=20, seed=3)
    assert not conformance.conforms
    assert spark.range(3).count() == 3


def test_an_audit_on_a_users_spark_session_finds_the_lost_records(spark: Any, tmp_path: Path) -> None:
    found = epochfuzz.audit(spark, [str(LOGS / "re-elected-leader-4.3.1")], out=str(tmp_path))
    assert found.findings
    assert spark.range(3).count() == 3


def test_an_open_spark_session_stays_open_and_keeps_its_master_and_configuration(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    monkeypatch.setitem(session._OPTIONS, "spark.sql.shuffle.partitions", f"{int(before) + 1}")
    with session.opened() as same_one:
        assert same_one is spark
        assert spark.conf.get("spark.sql.shuffle.partitions") == before
    assert spark.range(3).count() == 3
    with pytest.raises(CampaignError, match="already has a Spark session"), session.opened("local[1]"):
        pass


def interrupt_and_fail(spark: Any) -> None:
    """Raise KeyboardInterrupt, and then an error of Spark while the interruption is handled."""
    with session.opened():
        try:
            raise KeyboardInterrupt
        finally:
            spark.table("there_is_no_such_table").count()


def test_an_error_of_spark_during_an_interruption_does_not_replace_the_interruption(spark: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupt_and_fail(spark)


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        ("spark.master spark://host:7077\n", "spark://host:7077"),
        ("# spark.master local\nspark.masterful x\nspark.app.name a\n", None),
        (None, None),
    ],
)
def test_spark_defaults_conf_names_the_master_if_the_user_gives_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str | None, named: str | None
) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    if lines is not None:
        (tmp_path / "spark-defaults.conf").write_text(lines)
    assert session.named_by_spark() == named


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (
            ["campaign", "run", "--out", "c", "--protocol", "hw", "--schedules", "2000", "--certify", "0"],
            "2,000 schedules",
        ),
        (["conform", "--campaign", "c", "--schedules", "20", "--", *REFERENCE], "20 schedules"),
        (["explore", "--out", "c", "--protocol", "kip-320", "--records", "1", "--epochs", "1"], "every state within"),
        (["audit", str(LOGS / "kept-late-4.3.1"), "--spark", "--accept-gaps"], "nothing found"),
    ],
    ids=["campaign", "conform", "explore", "audit"],
)
def test_a_command_under_spark_submit_runs_on_the_master_of_spark_submit(
    tmp_path: Path, words: list[str], printed: str
) -> None:
    file = subprocess.run(
        [sys.executable, "-c", "import epochfuzz.submit; print(epochfuzz.submit.__file__)"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()
    submit = [str(Path(sys.executable).with_name("spark-submit")), "--master", "local[1]", file]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    ended = subprocess.run(
        [*submit, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    said = ended.stdout + ended.stderr  # spark-submit prints both on its standard output
    assert "runs on local[1]" in said, said
    assert printed in said
    assert ended.returncode == 0  # hw loses a record, which is a known bug


@pytest.mark.slow
def test_spark_rejects_cluster_mode_of_a_standalone_master_as_the_page_says(tmp_path: Path) -> None:
    (documented,) = re.findall(
        r"`(Cluster deploy mode [^`]*)`", named("how-to/spark-cluster.md").read_text(encoding="utf-8")
    )
    submit = [str(Path(sys.executable).with_name("spark-submit")), "--master", "spark://127.0.0.1:7077"]
    words = ["--deploy-mode", "cluster", str(ROOT / "src" / "epochfuzz" / "submit.py"), "campaign", "run", "--out", "c"]
    ended = subprocess.run([*submit, *words], cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    assert ended.returncode == 1
    assert documented in ended.stdout + ended.stderr
