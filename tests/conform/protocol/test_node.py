"""An adapter in another language: Node.js."""

import os
import shutil
from pathlib import Path

import pytest

from tests.conform.running import conform

NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None and os.environ.get("CI") != "true", reason="node is not installed")
@pytest.mark.parametrize("protocol", ["hw", "kip-320", "kafka-2.0.0"])
def test_an_adapter_in_node_js_conforms_with_the_events_that_it_supports(protocol: str) -> None:
    assert NODE is not None, "continuous integration needs node: sudo apt-get install nodejs"
    command = (NODE, str(Path(__file__).parents[1] / "subject.js"))
    conformance = conform(command, protocol, schedules=30, replicas=3, records_per_fetch=2)
    assert conformance.nonconformities == []
    assert set(conformance.shown.applied) >= {"produce", "fetch", "receive", "drop"}
    assert conformance.shown.applied["crash"] == 0
    assert conformance.shown.fields["replicas.log"] == conformance.shown.steps
