"""Known behaviour of single releases, on their own code: a schedule, and the expected observation after it."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cluster.broker.installation import from_maven
from epochfuzz.harness.cluster.broker.repair import Repair, repaired
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.rerun import Rerun, rerun
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.kafka import ladder
from tests.systems.jvm.build import missing

pytestmark = pytest.mark.slow

CASES = {case.id: case for case in load_corpus(ladder.CORPUS)}
OF_A_MISSED_EPOCH = CASES["kafka-7164-answer-of-a-missed-epoch"]
RE_ELECTED = ("re-elected-leader", "re-elected-leader-in-kraft", "re-elected-leader-after-a-crash")
REFUSED = CASES["reverted-expansion"]
NOT_FETCHED_IN_THE_EPOCH = Case(
    "expand",
    "",
    Configuration(replicas=3, records=3, epochs=4),
    parse_schedule(
        [
            *("fetch B", "elect B", "elect A", "catch_up A", "produce A", "shrink B", "alter A", "altered A"),
            "expand B",
        ]
    ),
)
RETENTION = Configuration(replicas=2, retention=True)
BELOW_LOG_START = CASES["kafka-12996-below-the-log-start"]
DIVERGING_TO_A_LEADER = CASES["kafka-13207-diverging-answer-to-a-leader"]
LATE_LOOKUP = Case(
    "KAFKA-7786",
    "",
    Configuration(replicas=2, records=1, epochs=4),
    parse_schedule(
        [
            *("produce A", "elect B", "notify A", "notify B", "fetch A", "elect A", "notify A", "notify B", "fetch B"),
            *("receive B", "fetch B", "receive B", "fetch B", "elect B", "notify A", "receive A"),
        ]
    ),
)
EMPTY_RESPONSE = Case(
    "KAFKA-15510",
    "",
    Configuration(replicas=3, records=3, epochs=3),
    parse_schedule(
        [
            *("produce A", "fetch B", "receive B", "elect B", "notify A", "notify B", "fetch A", "elect C"),
            *("catch_up C", "notify B", "fetch B", "receive B", "elect B", "notify B", "produce B", "produce B"),
            *("catch_up A", "receive A", "fetch A", "receive A"),
        ]
    ),
)
OF_AN_EARLIER_EPOCH = Case(
    "late",
    "",
    Configuration(replicas=3, records=3, epochs=4),
    parse_schedule(
        [
            *("produce A", "elect B", "notify B", "notify C", "produce B", "fetch C", "receive C", "produce B"),
            *("fetch C", "elect C", "notify C", "elect B", "notify C", "receive C", "crash B"),
        ]
    ),
)


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    for lack in missing():
        pytest.skip(lack)


def subject(words: str) -> CommandSubject:
    return CommandSubject([sys.executable, "-m", "tests.conform.kafka", *words.split()], ladder.PATIENCE)


def replayed(case: Case, words: str, protocol: str) -> Rerun:
    with subject(words) as release:
        return rerun(release, case, parse_protocol(protocol))


def seen_after(case: Case, words: str, protocol: str) -> dict[str, Any]:
    with subject(words) as release:
        release.reset(wire.config_of(case.settings), protocol)
        for event in schedule_texts(case.events):
            assert release.apply(event), event
        return dict(release.observe())


@pytest.mark.parametrize("words", ["3.9.0", "3.9.2 --kafka-version 3.9.0"])
def test_the_jar_of_3_9_0_breaks_convergence_as_release_3_9_0_and_as_3_9_2(words: str) -> None:
    for protocol in ("kafka-3.9.0", "kafka-3.9.2"):
        assert replayed(OF_AN_EARLIER_EPOCH, words, protocol).subject.broken == ["convergence"]


def test_the_fix_of_kafka_18991_is_in_3_9_2() -> None:
    assert replayed(OF_AN_EARLIER_EPOCH, "3.9.2", "kafka-3.9.2").subject.broken == []


@pytest.mark.parametrize(
    ("release", "broken"),
    [("0.10.2.2", ["convergence"]), ("1.1.1", ["convergence"]), ("2.0.0", ["convergence"]), ("2.0.1", [])],
)
def test_a_response_from_before_a_missed_epoch_is_applied_up_to_2_0_0(release: str, broken: list[str]) -> None:
    found = replayed(OF_A_MISSED_EPOCH, release, f"kafka-{release}")
    assert found.subject.broken == found.model.broken == broken
    assert found.differs is None


@pytest.mark.parametrize(("release", "log"), [("2.1.0", []), ("2.1.1", [("m0", 0)])])
def test_a_lookup_response_of_an_earlier_epoch_truncates_the_log_in_2_1_0(release: str, log: list[Any]) -> None:
    with subject(release) as kafka:
        kafka.reset(wire.config_of(LATE_LOOKUP.settings), "kafka-2.1:late_answer=same_leader")
        for event in schedule_texts(LATE_LOOKUP.events):
            kafka.apply(event)
        seen: dict[str, Any] = dict(kafka.observe())
    assert seen["replicas"]["A"]["log"] == log


@pytest.mark.parametrize(
    ("release", "log"),
    [
        ("3.5.0", []),
        ("3.5.1", [("m0", 0), ("m2", 3)]),
        ("3.6.2", [("m0", 0), ("m2", 3)]),
        ("3.9.2", []),
    ],
)
def test_a_fetch_after_an_empty_response_has_no_last_epoch_in_3_5_1_and_3_6(release: str, log: list[Any]) -> None:
    follower = seen_after(EMPTY_RESPONSE, release, "kafka-3.5.0:isr_change=atomic")["replicas"]["A"]
    assert follower["log"] == log


@pytest.mark.parametrize(
    ("words", "protocol", "epoch"),
    [("3.4.1", "kafka-3.4.1", 1), ("3.9.2 --ibp 3.5", "kafka-3.5", 1), ("3.9.2", "kafka-3.9.2", 0)],
)
def test_kafkas_own_controller_opens_an_epoch_when_a_leader_shrinks_the_isr_up_to_3_5(
    words: str, protocol: str, epoch: int
) -> None:
    events = parse_schedule(["produce A", "shrink B", "alter A"])
    case = Case("shrink", "", Configuration(replicas=2), events)
    controller = seen_after(case, words, protocol)["controller"]
    assert (controller["epoch"], controller["isr"]) == (epoch, ["A"])


@pytest.mark.parametrize("words", ["3.9.2", "3.9.2 --clock 100", "4.4.0", "4.4.0 --clock 100"])
def test_a_rejected_isr_expansion_leaves_the_high_watermark_behind_at_any_speed_of_the_clock(words: str) -> None:
    leader = seen_after(REFUSED, words, f"kafka-{words.split()[0]}")["replicas"]["A"]
    assert (leader["isr"], leader["pending_isr"]) == (["A"], [])
    assert (leader["leo"], leader["hw"]) == (1, 0)


@pytest.mark.parametrize("release", ["2.7.2", "2.8.1", "3.0.2", "3.4.1", "4.3.1"])
def test_a_follower_that_has_not_fetched_in_the_epoch_does_not_join_the_isr(release: str) -> None:
    assert replayed(NOT_FETCHED_IN_THE_EPOCH, release, f"kafka-{release}").differs is None


@pytest.mark.parametrize(
    ("release", "pending"), [*((each, ["A", "B"]) for each in ("2.7.2", "2.8.1", "3.0.2")), ("3.1.2", [])]
)
def test_a_leader_does_not_send_its_request_again_after_an_unexpected_error_up_to_3_2_0(
    release: str, pending: list[str]
) -> None:
    """In ZooKeeper, B is in the ISR. Up to 3.0 the leader still counts B. In 3.1 the leader commits m0 alone."""
    case = CASES["kafka-14010-isr-change-taken-back"]
    leader = seen_after(replace(case, events=case.events[:10]), release, f"kafka-{release}")["replicas"]["A"]
    assert (leader["isr"], leader["pending_isr"], leader["hw"]) == (["A"], pending, 0 if pending else 1)
    assert replayed(case, release, f"kafka-{release}").differs is None


@pytest.mark.parametrize(
    ("release", "log"), [("2.3.1", []), ("2.6.1", [("m1", 1)]), ("3.9.2", [("m1", 1)]), ("4.3.1", [("m1", 1)])]
)
def test_a_leader_accepts_any_first_sequence_of_an_unknown_producer_since_2_5(release: str, log: list[Any]) -> None:
    with subject(release) as kafka:
        kafka.reset(wire.config_of(Configuration(retries=True)), "kip-320")
        for event in ("produce A", "elect B", "notify B", "produce B"):
            kafka.apply(event)
        seen: dict[str, Any] = dict(kafka.observe())
    assert seen["replicas"]["B"]["log"] == log


@pytest.mark.parametrize("release", ["2.3.1", "4.3.1"])
def test_a_leader_rejects_a_gap_in_the_sequence_of_a_producer_that_it_knows(release: str) -> None:
    with subject(release) as kafka:
        kafka.reset(wire.config_of(Configuration(retries=True)), "kip-320")
        events = ("produce A", "fetch B", "receive B", "fetch B", "produce A", "elect B", "notify B", "produce B")
        assert [kafka.apply(event) for event in events] == [*[True] * 7, False]


@pytest.mark.parametrize("release", ["0.10.2.2", "2.8.1", "3.9.2", "4.4.0"])
def test_the_high_watermark_waits_for_a_replica_outside_the_isr_until_the_lag_time_passes(release: str) -> None:
    """Kafka's own code and the model agree. The clock of Kafka's code advances only with `lapse`."""
    asks = [] if release == "0.10.2.2" else ["alter A", "altered A"]
    left = ["produce A", "lapse A", "shrink B", *asks, "fetch B", "receive B", "produce A", "fetch B"]
    for more, high_watermark in ([], 2), (["lapse A"], 2), (["produce A"], 2), (["lapse A", "produce A"], 4):
        events = parse_schedule([*left, "produce A", *more])
        case = Case("waits", "", Configuration(replicas=2, lag_time=True), events)
        leader = seen_after(case, release, f"kafka-{release}")["replicas"]["A"]
        assert (leader["isr"] if asks else ["A"], leader["hw"]) == (["A"], high_watermark), more
        assert replayed(case, release, f"kafka-{release}").differs is None


@pytest.mark.parametrize(("release", "log"), [("2.8.0", []), ("2.8.1", [("m0", 0)])])
def test_a_new_leader_truncates_its_log_between_two_locks_of_a_fetcher_thread_in_2_8_0(
    release: str, log: list[Any]
) -> None:
    leader = seen_after(DIVERGING_TO_A_LEADER, release, "kafka-2.8.0:isr_change=atomic")["replicas"]["A"]
    assert (leader["leader"], leader["leader_epoch"], leader["log"]) == ("A", 2, log)


@pytest.mark.parametrize("release", ["2.8.0", "2.8.1"])
def test_a_new_leader_drops_a_response_that_its_fetcher_thread_has_not_received(release: str) -> None:
    protocol = "kafka-2.8.0:late_answer=same_leader,isr_change=atomic"
    assert seen_after(DIVERGING_TO_A_LEADER, release, protocol)["replicas"]["A"]["log"] == [("m0", 0)]


@pytest.mark.parametrize("release", ["3.4.1", "3.9.2", "4.3.1"])
def test_a_returning_kraft_broker_registers_and_is_unfenced_as_in_the_model(release: str) -> None:
    """The broker learns nothing before its registration, and stays fenced until it has learned all earlier updates."""
    events = parse_schedule(
        [
            *("produce A", "fetch B", "receive B", "fetch B", "crash B", "restart B", "notify B", "register B"),
            *("expire B", "register B", "unfence B", "notify A", "notify B", "unfence B", "notify A", "fetch B"),
            *("receive B", "fetch B", "expand B", "alter A", "altered A"),
        ]
    )
    both = replayed(Case("returns", "", Configuration(replicas=2), events), release, f"kafka-{release}")
    assert (both.subject.broken, both.differs) == ([], None)


@pytest.mark.parametrize("release", ["4.3.1", "4.4.0"])
def test_an_unclean_election_leaves_no_eligible_leader_replicas(release: str) -> None:
    events = parse_schedule(["crash A", "crash B", "restart A", "elect A"])
    settings = Configuration(replicas=2, min_insync_replicas=2, unclean_leader_election=True)
    controller = seen_after(Case("unclean", "", settings, events), release, f"kafka-{release}")["controller"]
    assert (controller["leader"], controller["isr"], controller["elr"]) == ("A", ["A"], [])


@pytest.mark.parametrize(
    ("repair", "choice"), [(Repair.EVERY_EPOCH, "forgotten"), (Repair.MISSED_EPOCH, "forgotten_if_missed")]
)
def test_a_fixed_4_3_1_keeps_the_records_that_a_re_elected_leader_loses(
    repair: Repair, choice: str, tmp_path: Path
) -> None:
    repaired(from_maven("4.3.1"), repair, tmp_path)
    for name in RE_ELECTED:
        both = replayed(CASES[name], f"4.3.1 --classes {tmp_path}", f"kafka-4.1:isr_change=atomic,remote_leo={choice}")
        assert (both.subject.broken, both.differs) == ([], None), name
    assert "no-committed-loss" in replayed(CASES[RE_ELECTED[0]], "4.3.1", "kafka-4.1:isr_change=atomic").subject.broken


@pytest.mark.parametrize(("release", "starts_again"), [("2.8.0", False), ("2.8.1", True)])
def test_a_fetch_below_the_log_start_ends_the_fetcher_of_a_diverging_follower_in_2_8_0(
    release: str, starts_again: bool
) -> None:
    assert replayed(BELOW_LOG_START, release, f"kafka-{release}").differs is None
    with subject(release) as kafka:
        kafka.reset(wire.config_of(BELOW_LOG_START.settings), f"kafka-{release}")
        for event in schedule_texts(BELOW_LOG_START.events):
            assert kafka.apply(event), event
        assert kafka.apply("fetch B") == starts_again
        assert kafka.observe()["replicas"]["B"]["log_start"] == int(starts_again)


@pytest.mark.parametrize("release", ["4.3.1", "4.4.0"])
def test_a_follower_that_ends_below_the_log_start_restarts_at_the_log_start(release: str) -> None:
    behind = [
        "produce A",
        "produce A",
        "expire B",
        "notify A",
        "trim A",
        "fetch B",
        "receive B",
        "fetch B",
        "receive B",
    ]
    case = Case("behind", "", RETENTION, parse_schedule(behind))
    assert replayed(case, release, f"kafka-{release}").differs is None
    follower = seen_after(case, release, f"kafka-{release}")["replicas"]["B"]
    assert (follower["log_start"], follower["log"]) == (1, [("DELETED", 0), ("m1", 0)])


@pytest.mark.parametrize("release", ["2.8.1", "4.4.0"])
def test_recovery_adds_the_epoch_of_a_deleted_record_that_is_still_in_its_segment(release: str) -> None:
    """The adapter deletes records like DeleteRecords, and the model like retention, which deletes whole segments."""
    trimmed = ["produce A", "fetch B", "receive B", "fetch B", "receive B", "trim B"]
    with subject(release) as kafka:
        kafka.reset(wire.config_of(RETENTION), f"kafka-{release}")
        for event in [*trimmed, *["crash B", "restart B"] * 2]:
            assert kafka.apply(event), event
        assert kafka.observe()["replicas"]["B"]["epochs"] == [(0, 1)]
