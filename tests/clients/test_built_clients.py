"""Client libraries whose adapters are built: in Go and in Java. A missing toolchain skips them."""

import pytest

pytest.importorskip("kio")

from tests.clients.library import Library, libraries
from tests.clients.verdicts import client_cases, verdicts
from tests.systems.system import BuildError

OTHER_EPOCH = "kip-320-end-of-an-older-epoch"
BUILT = [library for library in libraries() if library.name in ("franz-go", "Sarama", "Kafka's Java client")]

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("library", BUILT, ids=lambda library: library.title)]


def marks(library: Library, *cases: str) -> list[str]:
    try:
        command = library.command()
    except BuildError as error:
        pytest.skip(str(error))
    chosen = [case for case in client_cases() if case.id in cases]
    return [verdict.mark for verdict in verdicts(command, chosen)]


def test_a_built_client_replicates_and_retries(library: Library) -> None:
    assert marks(library, "normal-replication", "not-leader-retry") == ["ok", "ok"]


def test_only_franz_go_compares_the_epoch_of_the_end_offset(library: Library) -> None:
    expected = "ok" if library.name == "franz-go" else "consumer-no-skip"
    assert marks(library, OTHER_EPOCH) == [expected]
