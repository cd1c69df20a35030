"""Random schedules of known bugs find librdkafka#5158 and KAFKA-20507 within five schedules, with each of five seeds.

A client that validates its committed position breaks nothing in as many.
"""

from collections.abc import Sequence

import pytest

pytest.importorskip("kio")

from epochfuzz.harness.conform.client.client_subject import ClientSubject
from epochfuzz.harness.conform.run.selection import Selection, schedule
from epochfuzz.harness.serve.settings import settings_for_clients
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from tests.clients.library import libraries
from tests.clients.verdicts import PATIENCE, PROTOCOL, run
from tests.systems.system import BuildError

SETTINGS = settings_for_clients(Configuration(unclean_leader_election=True, consumer_group=True))
SCHEDULES = 5

pytestmark = pytest.mark.slow


def command(title: str) -> Sequence[str]:
    [library] = [library for library in libraries() if library.title == title]
    try:
        return library.command()
    except BuildError as error:
        pytest.skip(str(error))


def broken(title: str, seed: int) -> str | None:
    """The property that the first failing schedule breaks, None if none fails."""
    with ClientSubject(command(title), PATIENCE) as subject:
        for number in range(SCHEDULES):
            events = schedule(Selection.BUGS, PROTOCOL, SETTINGS, seed, number, is_client=True)
            for sighting in run(subject, events, SETTINGS).sightings:
                return sighting.fault.field
    return None


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("title", ["librdkafka 2.16.0", "Kafka's Java client 4.3.1, commits without epochs"])
def test_five_random_schedules_detect_a_client_that_validates_no_committed_position(title: str, seed: int) -> None:
    assert broken(title, seed) == "consumer-no-skip"


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("title", ["franz-go 1.22.3", "Kafka's Java client 4.3.1"])
def test_five_random_schedules_find_nothing_in_a_client_that_validates_committed_positions(
    title: str, seed: int
) -> None:
    assert broken(title, seed) is None
