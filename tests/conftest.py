"""The tests draw what the profile `ci` draws; `--hypothesis-profile` names another."""

from pathlib import Path

import pytest
from hypothesis import settings

from strategies import profiles

profiles.register()
settings.load_profile("ci")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In parallel, a file's tests stay together for what they share, and those of campaigns for their Spark session."""
    for item in items:
        shared = "campaign" if "campaign" in item.path.relative_to(Path(__file__).parent).parts else str(item.path)
        item.add_marker(pytest.mark.xdist_group(shared))
