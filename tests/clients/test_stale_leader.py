"""A restarted client that asks a stale leader goes back, although no record was truncated: docs/explain/clients.md."""

import pytest

pytest.importorskip("kio")

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.conform.client.client_subject import ClientSubject
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.serve.settings import settings_for_clients
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from tests.clients.library import Library, libraries
from tests.clients.verdicts import PATIENCE, PROTOCOL
from tests.systems.system import BuildError

# The others store no leader epoch.
VALIDATING = ("librdkafka", "kafka-python", "franz-go", "Kafka's Java client")
LIBRARIES = [each for each in libraries() if each.name in VALIDATING and not each.assigns]


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.title)
def test_a_restarted_client_goes_back_if_a_stale_leader_has_a_shorter_log(library: Library) -> None:
    try:
        command = library.command()
    except BuildError as error:
        pytest.skip(str(error))
    case = load_case("restart-at-a-stale-leader")
    settings = settings_for_clients(case.settings)
    with ClientSubject(command, PATIENCE) as subject:
        subject.reset(wire.config_of(settings), PROTOCOL.name)
        assert all(subject.apply(event) for event in schedule_texts(case.events))
        consumer = subject.observe()["consumer"]
    assert (consumer["position"], consumer["delivered"]) == (0, ["m0"])
