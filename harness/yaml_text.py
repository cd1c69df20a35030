"""YAML of our own: what the package brings along, read by libyaml, ten times as fast as by Python."""

from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a PyYAML that was built without libyaml has Python's only


def parsed(text: str) -> Any:
    """Return what a document says."""
    return yaml.load(text, Loader=LOADER)
