"""One Spark session for all tests of audits on Spark."""

import pytest

from epochfuzz.harness.campaign.spark import session


@pytest.fixture(scope="session")
def spark():
    with session.opened("local[2]") as spark:
        yield spark
