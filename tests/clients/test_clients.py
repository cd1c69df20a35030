"""Client libraries under test: each case is the verdict on a released version, see docs/how-to/test-your-client.md."""

import sys

import pytest

pytest.importorskip("kio")

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.conform.client.client_subject import ClientSubject
from epochfuzz.harness.conform.protocol.discrepancy import DiscrepancyKind
from epochfuzz.harness.conform.run.drive import Driven
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from tests.clients import verdicts
from tests.clients.fake import FAKE
from tests.clients.verdicts import PATIENCE

LIBRARIES = {"librdkafka": "confluent_kafka", "kafka_python": "kafka", "asyncio_kafka": "aiokafka"}


def run(command: list[str], schedule: bytes, settings: Configuration, patience: float = PATIENCE) -> Driven:
    with ClientSubject([sys.executable, *command], patience) as subject:
        return verdicts.run(subject, schedule, settings)


EARLY = """
from tests.clients.following import follow
from tests.clients.librdkafka import Librdkafka

class Early(Librdkafka):
    def send(self, value):
        super().send(value)
        self.news.acked.append(value)

    def delivered(self, error, message):
        pass

follow(Early())
"""


def of_case(name: str, library: str, *flags: str) -> list[tuple[str | None, int]]:
    """Return the properties that a client breaks in a case, each with the number of events until then."""
    pytest.importorskip(LIBRARIES[library])
    case = load_case(name)
    driven = run(["-m", f"tests.clients.{library}", *flags], case.events, case.settings)
    return [(each.fault.field, len(each.sent)) for each in driven.sightings[:1]]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["not-leader-retry", "consumer-over-leader-change"])
def test_a_client_keeps_its_guarantees_over_a_leader_change(name: str, library: str) -> None:
    assert of_case(name, library) == []


def test_librdkafka_validates_its_position_at_a_new_leader() -> None:
    assert of_case("consumer-over-unclean-election", "librdkafka") == []


@pytest.mark.thorough
def test_librdkafka_does_not_validate_an_assigned_position_5158() -> None:
    assert of_case("consumer-over-unclean-election", "librdkafka", "--restart") == [("consumer-no-skip", 8)]


@pytest.mark.thorough
def test_librdkafka_does_not_validate_a_committed_position_5158() -> None:
    assert of_case("librdkafka-5158-committed-position", "librdkafka") == [("consumer-no-skip", 9)]


@pytest.mark.thorough
def test_kafka_python_forgets_the_epoch_of_its_position_at_an_empty_response() -> None:
    assert of_case("consumer-over-unclean-election", "kafka_python") == [("consumer-no-skip", 8)]


@pytest.mark.thorough
def test_aiokafka_does_not_validate_its_position() -> None:
    assert of_case("consumer-over-unclean-election", "asyncio_kafka") == [("consumer-no-skip", 8)]


def fault_of(program: str, *events: str) -> tuple[DiscrepancyKind, str]:
    driven = run(["-c", program], parse_schedule(events), Configuration(), patience=0.3)
    (failure,) = driven.sightings
    return failure.fault.kind, failure.fault.sentence


def test_a_client_that_never_connects_fails_with_a_timeout() -> None:
    told = (DiscrepancyKind.TIMEOUT, "the consumer has sent no Fetch request to the leader")
    assert fault_of(FAKE % "pass", "fetch B") == told


RECONNECTING = """
if order["op"] == "reset":
        import socket, threading
        host, port = order["bootstrap"].split(",")[0].split(":")
        def reconnect():
            while True:
                try:
                    with socket.create_connection((host, int(port)), 1) as connection:
                        connection.sendall(bytes(2))
                except OSError:
                    pass
        threading.Thread(target=reconnect, daemon=True).start()
""".strip()


def test_a_client_that_reconnects_forever_fails_with_a_timeout() -> None:
    told = (DiscrepancyKind.TIMEOUT, "the consumer has sent no Fetch request to the leader")
    assert fault_of(FAKE % RECONNECTING, "fetch B") == told


def test_an_acknowledgement_that_no_broker_gave_is_a_broken_guarantee() -> None:
    kind, sentence = fault_of(FAKE % 'report["acked"] = ["m0"]', "fetch B")
    assert (kind, sentence.split(": ")[0]) == (DiscrepancyKind.PROMISE, "no-acked-loss is broken")


@pytest.mark.thorough
def test_a_report_of_success_before_the_response_is_a_broken_guarantee_even_if_the_response_comes_later() -> None:
    pytest.importorskip(LIBRARIES["librdkafka"])
    driven = run(["-c", EARLY], parse_schedule(["produce A", "fetch B", "receive B", "fetch B"]), Configuration())
    (failure,) = driven.sightings
    assert (failure.fault.field, len(failure.sent)) == ("no-acked-loss", 1)
    assert "reports m0 as acknowledged, and no leader did" in failure.fault.sentence


def test_a_client_with_acks_0_may_report_a_record_that_no_broker_acknowledged() -> None:
    program = FAKE % 'report["acked"] = ["m0"]'
    driven = run(["-c", program], parse_schedule(["fetch B"]), Configuration(acks="0"), patience=0.3)
    assert [each.fault.kind for each in driven.sightings] == [DiscrepancyKind.TIMEOUT]


def test_the_reset_order_turns_idempotence_off_for_a_client_with_acks_1() -> None:
    statement = "assert order['op'] != 'reset' or order['idempotent'] is False"
    driven = run(["-c", FAKE % statement], parse_schedule(["fetch B"]), Configuration(acks="1"), patience=0.3)
    assert [each.fault.kind for each in driven.sightings] == [DiscrepancyKind.TIMEOUT]


def test_a_consumer_that_reads_from_a_follower_at_the_end_is_not_reported_as_absent() -> None:
    assert of_case("kip-392-read-from-a-follower", "librdkafka") == []


@pytest.mark.thorough
def test_the_producer_learns_the_new_leader_before_it_sends_the_next_record() -> None:
    case = load_case("kip-320-end-of-an-older-epoch")
    pytest.importorskip(LIBRARIES["librdkafka"])
    driven = run(["-m", "tests.clients.librdkafka"], case.events, case.settings)
    assert all(applied for applied, _ in driven.answers)


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("if order['op'] == 'poll': sys.exit(3)", DiscrepancyKind.DIED),
        ("if order['op'] == 'poll': import time; time.sleep(60)", DiscrepancyKind.TIMEOUT),
        ("if order['op'] == 'poll': report = {}", DiscrepancyKind.GARBAGE),
        ("if order['op'] == 'poll': report['acked'] = ['x' * 2_000_000]", DiscrepancyKind.FLOOD),
    ],
    ids=["dies", "hangs", "reports nonsense", "floods"],
)
def test_a_client_that_misbehaves_fails_with_the_kind_of_its_misbehaviour(
    statement: str, kind: DiscrepancyKind
) -> None:
    assert fault_of(FAKE % statement, "fetch B")[0] is kind
