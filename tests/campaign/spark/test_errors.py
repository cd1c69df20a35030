"""epochfuzz reports a failure of Spark in a sentence."""

import os

import pyspark
import pytest

from epochfuzz.harness.campaign.spark import session
from epochfuzz.harness.campaign.store.errors import CampaignError, sentence

TASK_FAILED = """An error occurred while calling o63.parquet.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2844)
Caused by: java.io.IOException: No space left on device
\tat java.base/sun.nio.ch.FileDispatcherImpl.write0(Native Method)
"""
WORKER_FAILED = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/site-packages/pyspark/worker.py", line 1, in main
    process()
{error}

JVM stacktrace:
org.apache.spark.SparkException: Job aborted
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2844)
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TASK_FAILED, "No space left on device"),
        (WORKER_FAILED.format(error="ValueError: no"), "ValueError: no"),
        (
            WORKER_FAILED.format(error="ModuleNotFoundError: No module named 'numba'"),
            "a worker lacks numba; install the dependencies of epochfuzz on each machine with executors",
        ),
        ("[SOME_CONDITION] a message\nmore", "[SOME_CONDITION] a message"),
        ("", "Spark gives no reason"),
    ],
)
def test_the_message_of_a_spark_failure_is_its_innermost_cause(text, message):
    assert sentence(text) == message


def open_session(**where):
    with session.opened(**where):
        pass


def test_the_message_about_a_missing_java_has_the_command_that_installs_java(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(CampaignError, match=rf"{tmp_path}/bin/java was not found; .*apt-get install openjdk-17"):
        open_session()


@pytest.mark.parametrize("where", [{"remote": "sc://127.0.0.1:9"}, {"master": "spark://127.0.0.1:9"}])
def test_the_message_names_a_spark_server_that_accepts_no_connections(where):
    with pytest.raises(CampaignError, match=r"no Spark server accepts connections at 127\.0\.0\.1:9: "):
        open_session(**where)


def test_the_message_names_the_pyspark_version_that_a_master_rejects(tmp_path):
    log = tmp_path / "log"
    log.write_text(
        "ERROR StandaloneSchedulerBackend: Application has been killed. Reason: All masters are unresponsive!\n"
    )
    message = session._complaint(RuntimeError("Cannot call methods on a stopped SparkContext."), log)
    assert f"the master rejects drivers of PySpark {pyspark.__version__}; start a master of the same version" in message


def test_the_output_of_spark_goes_to_its_log_and_not_to_the_terminal(capfd):
    with session._output_to(os.open(os.devnull, os.O_WRONLY)):
        os.system("echo out; echo err >&2")
    os.system("echo after")
    assert capfd.readouterr() == ("after\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("conform", "--campaign", "c", "--", "no-such-command"), "cannot run 'no-such-command': no such command"),
        (
            ("conform", "--campaign", "c", "--master", "local[1]", "--", "no-such-command"),
            "cannot run 'no-such-command': no such command on this machine",
        ),
        (
            ("explore", "--resume", "empty"),
            "--resume: empty holds no search; `epochfuzz explore --out empty` starts one",
        ),
        (("campaign", "resume", "empty"), "empty holds no campaign; `epochfuzz campaign run --out"),
    ],
)
def test_wrong_input_ends_a_command_before_spark_starts(epochfuzz, monkeypatch, tmp_path, words, message):
    def starts(*where):
        raise AssertionError("Spark starts")

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setattr(session, "opened", starts)
    (tmp_path / "empty").mkdir()
    ended = epochfuzz(*words)
    assert ended.code == 2
    assert message in ended.err


@pytest.mark.thorough
def test_the_driver_does_not_look_for_an_adapter_command_that_runs_on_remote_workers(epochfuzz, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    ended = epochfuzz("conform", "--campaign", "c", "--master", "spark://127.0.0.1:9", "--", "no-such-command")
    assert "no such command on this machine" not in ended.err
