"""Certificates: proofs that no schedule is shorter, unfinished proofs, and interruption by time or Ctrl-C."""

from itertools import chain

import pytest

from epochfuzz.harness.engine.explore import certificates, explore
from epochfuzz.harness.engine.explore.certificates import Claim, Reproducer, prove, prove_all
from epochfuzz.harness.engine.runtime.deadline import Deadline
from epochfuzz.harness.engine.runtime.interruption import Interruption
from epochfuzz.harness.engine.shrink.shrink import breaking_prefix, trim
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.findings import findings
from epochfuzz.model.kafka.contract.properties import named
from epochfuzz.model.kafka.vocabulary.configuration import Bounds, Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS

HW, KIP_101 = GENERATIONS["hw"], GENERATIONS["kip-101"]
TWO = Configuration()
NO_COMMITTED_LOSS, NO_DIVERGENCE = named("no-committed-loss").bit, named("no-divergence").bit
LOST = [
    "produce A", "fetch B", "receive B", "fetch B",
    "crash B", "restart B", "notify B", "elect B", "notify B",
]  # fmt: skip
SMALL = Configuration(records=3, epochs=2)
TOO_LITTLE = 1 << 20  # bytes: half a level of the search
NO_END = Deadline(None)


def broken(protocol, settings=TWO):
    """Return a walker, and the properties that its random run breaks under a protocol."""
    walker = Walker([protocol], settings, seed=3)
    return walker, findings.breaches([protocol], settings, walker.walk(0, 5_000))


def claims(protocol, settings=TWO):
    walker, breaches = broken(protocol, settings)
    failing = {named(each.property).bit: walker.failing(each.failures[0], protocol, each.property) for each in breaches}
    return [
        Claim(protocol, settings, bit, trim(schedule, protocol, settings, bit)) for bit, schedule in failing.items()
    ]


class Noted:
    """A display that records findings. It simulates Ctrl-C when an activity starts with the text `at`."""

    def __init__(self, at=None):
        self.shown: list[dict[str, Reproducer]] = []
        self._at, self.interruption = at, None

    def doing(self, what):
        if self._at and what.startswith(self._at):
            self.interruption.happened = True

    def found(self, known):
        self.shown.append({each.property: each.reproducer for each in known})


@pytest.fixture
def noted_interruption(monkeypatch):
    """Return a factory for `Noted` displays that can interrupt the run."""

    def noted(at):
        shown = Noted(at)

        class Known(Interruption):
            def __enter__(self):
                shown.interruption = self
                return super().__enter__()

        monkeypatch.setattr(findings, "Interruption", Known)
        return shown

    return noted


def test_the_shortest_reproducer_does_not_depend_on_the_failing_schedule():
    walker = Walker([HW], TWO, seed=3)
    for failure in walker.walk(0, 20_000).candidates(0, named("no-committed-loss").number)[:4]:
        found = certificates.reproduce(walker.schedule(failure.schedule), HW, TWO, NO_COMMITTED_LOSS)
        assert schedule_texts(found.schedule) == LOST
        assert found.certified_minimal


@pytest.mark.parametrize("protocol", [HW, KIP_101], ids=lambda each: each.name)
def test_a_joint_search_for_several_properties_proves_as_much_as_separate_searches(protocol):
    together, alone = claims(protocol, SMALL), claims(protocol, SMALL)
    prove_all(together, NO_END, 256 << 20)
    for claim in alone:
        prove_all([claim], NO_END, 256 << 20)
    assert [claim.reproducer for claim in together] == [claim.reproducer for claim in alone]
    assert len(together) >= 4


def test_an_unfinished_proof_reports_the_length_below_which_no_schedule_exists():
    (claim,) = (each for each in claims(KIP_101) if each.wanted == NO_DIVERGENCE)
    prove_all([claim], NO_END, TOO_LITTLE)
    found = claim.reproducer
    assert not found.certified_minimal
    assert 0 < found.searched <= 12 <= len(found.schedule)
    assert f"nothing shorter than {found.searched} events" in found.proven
    assert breaking_prefix(found.schedule, KIP_101, TWO, NO_DIVERGENCE) == found.schedule


def test_a_proof_within_small_bounds_names_the_bounds_until_the_full_proof_exists():
    claim = Claim(HW, TWO, NO_COMMITTED_LOSS, parse_schedule(LOST))
    claim.searched(Bounds(1, 2), 9)
    claim.searched(Bounds(15, 14), 6)
    assert claim.reproducer == Reproducer(parse_schedule(LOST), False, 6, Bounds(1, 2))
    assert (
        claim.reproducer.proven == "minimal with 1 record and 2 epoch changes, nothing shorter than 6 events otherwise"
    )
    claim.searched(Bounds(15, 14), 9)
    assert claim.reproducer == Reproducer(parse_schedule(LOST), True, 9)
    assert claim.reproducer.proven == "certified minimal"
    assert claim.searches == []


def test_a_proof_within_bounds_that_the_schedule_exceeds_does_not_count():
    claim = Claim(HW, TWO, NO_COMMITTED_LOSS, parse_schedule([*LOST, "produce B"]))
    claim.searched(Bounds(1, 3), 10)
    assert claim.reproducer.within is None


def test_a_proof_searches_small_bounds_and_none_beyond_the_configuration():
    for records, epochs in ((1, 1), (1, 3), (2, 1), (3, 3)):
        claim = Claim(HW, Configuration(records=records, epochs=epochs), NO_COMMITTED_LOSS, parse_schedule(LOST))
        searched = claim.searches
        assert searched[0] == (records, epochs)
        assert (1, 1) in searched
        assert max(chain.from_iterable(searched)) <= max(records, epochs)
        assert len(set(searched)) == len(searched)


@pytest.mark.thorough
def test_a_proof_past_its_time_keeps_its_result_and_leaves_time_for_other_proofs(monkeypatch):
    clock = iter(range(10_000))
    monkeypatch.setattr("epochfuzz.harness.engine.runtime.deadline.time.monotonic", lambda: next(clock) / 100)
    all_ = claims(KIP_101)
    prove(all_, Deadline(3), 256 << 20, 0.25)
    assert {claim.reproducer.searched > 0 for claim in all_} == {True}
    assert {claim.reproducer.certified_minimal for claim in all_} == {True, False}


def test_findings_appear_as_soon_as_they_are_shrunk_and_then_improve():
    walker, breaches = broken(HW)
    shown = Noted()
    found = findings.findings(walker, breaches, shown)
    assert list(shown.shown[0]) == [breaches[0].property]
    assert not shown.shown[0][breaches[0].property].certified_minimal
    assert all(each.reproducer.certified_minimal for each in found.findings)
    for before, after in zip(shown.shown, shown.shown[1:], strict=False):
        assert all(len(after[name].schedule) <= len(each.schedule) for name, each in before.items())
        assert all(after[name].searched >= each.searched for name, each in before.items())


@pytest.mark.thorough
def test_a_proof_budget_of_0_proves_nothing_and_keeps_all_findings(monkeypatch):
    walker, breaches = broken(HW)
    proven = findings.findings(walker, breaches, Noted())
    monkeypatch.setattr(explore, "explored", None)
    unproven = findings.findings(walker, breaches, Noted(), certify=0)
    assert [(each.property, each.seen) for each in unproven.findings] == [
        (each.property, each.seen) for each in proven.findings
    ]
    assert {each.reproducer.searched for each in unproven.findings} == {0}


def test_ctrl_c_during_proofs_keeps_all_findings(noted_interruption):
    walker, breaches = broken(HW)
    found = findings.findings(walker, breaches, noted_interruption("certifying"))
    assert found.interrupted
    assert not found.unshrunk
    assert [each.property for each in found.findings] == [each.property for each in breaches]


def test_ctrl_c_during_shrinking_keeps_shrunk_findings_and_names_the_rest(noted_interruption):
    walker, breaches = broken(HW)
    found = findings.findings(walker, breaches, noted_interruption(f"shrinking {breaches[1].property}"))
    assert found.interrupted
    assert [each.property for each in found.findings] == [each.property for each in breaches[:2]]
    assert found.unshrunk == breaches[2:]
