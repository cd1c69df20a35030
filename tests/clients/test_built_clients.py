"""Client libraries whose adapters are built: in Go and in Java. A missing toolchain skips them."""

import pytest

pytest.importorskip("kio")

from epochfuzz.harness.conform.client.client_cases import client_cases
from tests.clients.library import Library, libraries
from tests.clients.verdicts import PROTOCOL, Kind, verdicts
from tests.systems.system import BuildError

BUILT = [library for library in libraries() if library.name in ("franz-go", "Sarama", "Kafka's Java client")]
OFFSET_ONLY = [library for library in BUILT if library.commits_offset_only]

pytestmark = pytest.mark.slow
of_each = pytest.mark.parametrize("library", BUILT, ids=lambda library: library.title)


def kinds(library: Library, *cases: str) -> list[Kind]:
    try:
        command = library.command()
    except BuildError as error:
        pytest.skip(str(error))
    chosen = [case for case in client_cases([PROTOCOL]) if case.id in cases]
    return [verdict.kind for verdict in verdicts(command, chosen)]


@of_each
def test_a_built_client_passes_the_cases_of_normal_replication_and_of_a_retry(library: Library) -> None:
    assert kinds(library, "normal-replication", "not-leader-retry") == [Kind.OK, Kind.OK]


@of_each
def test_a_built_client_does_not_compare_the_epoch_of_the_end_offset(library: Library) -> None:
    """docs/findings/consumer-position.md"""
    assert kinds(library, "kip-320-end-of-an-older-epoch") == [Kind.FAILS]


@of_each
def test_a_built_client_that_stores_no_leader_epoch_skips_a_record_after_a_commit(library: Library) -> None:
    stores_epochs = library.name != "Sarama" and not library.commits_offset_only
    assert kinds(library, "librdkafka-5158-committed-position") == [Kind.OK if stores_epochs else Kind.FAILS]


def test_the_java_client_skips_a_record_if_the_application_commits_no_epoch_20507() -> None:
    [without] = OFFSET_ONLY
    [with_epochs] = [each for each in BUILT if each.title == without.title.removesuffix(", commits without epochs")]
    case = "librdkafka-5158-committed-position"
    assert (kinds(without, case), kinds(with_epochs, case)) == ([Kind.FAILS], [Kind.OK])
