"""librdkafka reports a record as acknowledged that an unpatched broker does not have: report.md."""

import os
import shutil

import pytest

pytest.importorskip("kio")
pytest.importorskip("confluent_kafka")

from tests.findings.librdkafka import rejected_record

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

RELEASE = "4.3.1"
BOTH_ACKNOWLEDGED = ["m0 is reported as acknowledged", "m1 is reported as acknowledged"]


@pytest.fixture(autouse=True)
def has_a_jdk_and_maven() -> None:
    if not (shutil.which("mvn") and shutil.which("javac")) and os.environ.get("CI") != "true":
        pytest.skip("a JDK and Maven are not installed")


@pytest.mark.parametrize(
    ("in_flight", "log"), [(rejected_record.MOST_IN_FLIGHT, ["m1"]), (1, ["m0", "m1"])], ids=["five", "one"]
)
def test_an_acknowledged_record_is_lost_if_the_next_request_was_sent_before_the_rejection(
    in_flight: int, log: list[str]
) -> None:
    assert rejected_record.run(RELEASE, in_flight=in_flight) == (BOTH_ACKNOWLEDGED, log)
