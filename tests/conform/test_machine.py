"""Conformance in pytest: conformance_test returns a test case."""

from pathlib import Path
from typing import Any, ClassVar

import pytest

from epochfuzz.harness.conform import CommandSubject, conformance_test
from epochfuzz.harness.conform.oracle.known import KnownError
from epochfuzz.harness.conform.oracle.lockstep import LockStep
from epochfuzz.harness.conform.run.machine import NonConformance
from epochfuzz.harness.conform.run.selection import Selection, schedule
from epochfuzz.model.kafka.vocabulary.configuration import Configuration, ConfigurationError
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import ProtocolError, parse_protocol
from tests.conform.reference import Reference
from tests.conform.running import SUBJECT, failures


class Ahead(Reference):
    """Show the log end offset of B one too high, once B has a record."""

    def observe(self) -> dict[str, Any]:
        observation = super().observe()
        observation["replicas"]["B"]["leo"] += observation["replicas"]["B"]["leo"] > 0
        return observation


class Unfenced(Reference):
    """Apply a fetch from a leader with another epoch, as before KIP-320."""

    def apply(self, event: str) -> bool:
        verb, name = event.split()
        replicas = self.observe()["replicas"]
        follower, leader = replicas[name], replicas.get(replicas[name]["leader"])
        is_fenced = leader is not None and leader["leader_epoch"] not in (None, follower["leader_epoch"])
        return super().apply(event) or (verb == "fetch" and follower["leader"] != name and is_fenced)


class Wordy(Reference):
    """Return a string instead of a bool from apply()."""

    def apply(self, event: str) -> bool:
        return "yes"  # type: ignore[return-value]


class OnlyReplicates(Reference):
    """Support three events, and fail at any other event."""

    def reset(self, config: dict[str, Any], protocol: str) -> list[str]:
        super().reset(config, protocol)
        return ["produce", "fetch", "receive"]

    def apply(self, event: str) -> bool:
        assert event.split()[0] in ("produce", "fetch", "receive")
        return super().apply(event)


def test_conformance_test_passes_for_the_model() -> None:
    assert failures(conformance_test(Reference, replicas=3, power_loss=True)) == []


@pytest.mark.thorough
def test_conformance_test_fails_with_the_differing_field_and_the_shortest_schedule() -> None:
    (report,) = failures(conformance_test(Ahead))
    assert "Difference: difference: replicas.B.leo is 2, and 1 in the model" in report
    # There are two shortest schedules. Hypothesis also draws constants of the loaded modules, so the reported schedule
    # depends on the tests that ran before.
    shortest = ("produce A, fetch B, receive B", "elect B, notify B, produce B")
    assert any(f"after {schedule}\n" in report for schedule in shortest)


@pytest.mark.thorough
def test_conformance_test_shrinks_a_failure_of_several_events_in_order() -> None:
    (report,) = failures(conformance_test(Unfenced), examples=100)
    assert "Difference: difference: applied is true, and false in the model" in report
    assert report.count("state.step(event=") <= 5


@pytest.mark.thorough
def test_conformance_test_sends_events_that_are_not_enabled() -> None:
    refused: set[str] = set()

    class Noted(Reference):
        def apply(self, event: str) -> bool:
            applied = super().apply(event)
            refused.update([] if applied else [event.split()[0]])
            return applied

    assert failures(conformance_test(Noted)) == []
    assert refused > {"produce", "fetch", "receive", "restart", "notify", "elect", "expand"}


def test_conformance_test_sends_no_event_that_the_adapter_does_not_list() -> None:
    assert failures(conformance_test(OnlyReplicates)) == []


@pytest.mark.thorough
def test_conformance_test_fails_at_a_broken_guarantee_and_not_at_a_known_bug() -> None:
    assert failures(conformance_test(Reference, protocol="hw", judge="promises")) == []

    class Invented(Reference):
        def observe(self) -> dict[str, Any]:
            observation = super().observe()
            observation["replicas"]["B"]["hw"] = observation["replicas"]["B"]["leo"] + 1
            return observation

    (report,) = failures(conformance_test(Invented, protocol="hw", judge="promises"))
    assert "Promise: promise: hw-within-log is broken: B's HW 1 is beyond its LEO 0" in report


def test_conformance_test_fails_if_apply_returns_no_bool() -> None:
    (report,) = failures(conformance_test(Wordy))
    assert "apply() returned 'yes', which is neither True nor False" in report


@pytest.mark.thorough
def test_conformance_test_calls_its_factory_once_for_all_examples() -> None:
    made = []

    def factory() -> Reference:
        made.append(Reference())
        return made[-1]

    assert failures(conformance_test(factory)) == []
    assert len(made) == 1


def test_conformance_test_runs_a_command_and_ends_its_process(living: Any) -> None:
    assert failures(conformance_test(lambda: CommandSubject(SUBJECT), replicas=3), examples=5) == []
    assert living() == []


def test_conformance_test_fails_with_the_reason_of_an_adapter_that_cannot_run_the_protocol() -> None:
    test = conformance_test(lambda: CommandSubject(SUBJECT), protocol="kip-320:fencing=none")
    (report,) = failures(test)
    assert "cannot run this protocol and configuration: there is hw, kip-101, kip-279, kip-320" in report


def test_conformance_test_fails_for_an_adapter_without_events() -> None:
    class Idle(Reference):
        def reset(self, config: dict[str, Any], protocol: str) -> list[str]:
            return []

    (report,) = failures(conformance_test(Idle), examples=2)
    assert "the system under test supports no event that this configuration makes possible" in report


class Differs(Reference):
    """Show the LEO of B one too high once the model has a record in B."""

    def observe(self) -> dict[str, Any]:
        observation = super().observe()
        observation["replicas"]["B"]["leo"] += self.execution.state.leo[1] > 0
        return observation


KNOWN = """\
- {field: leo, after: [receive, produce, notify, catch_up, elect], why: "counts from 1, as the file format does"}
"""


@pytest.mark.thorough
def test_conformance_test_passes_with_a_known_difference(tmp_path: Path) -> None:
    (tmp_path / "known.yaml").write_text(KNOWN, encoding="utf-8")
    assert failures(conformance_test(Differs), examples=10)
    assert failures(conformance_test(Differs, known=tmp_path / "known.yaml"), examples=30) == []
    assert failures(conformance_test(Differs, known=str(tmp_path / "known.yaml")), examples=5) == []


@pytest.mark.thorough
def test_conformance_test_fails_at_a_difference_that_the_file_does_not_list(tmp_path: Path) -> None:
    (tmp_path / "known.yaml").write_text(KNOWN.replace("leo", "hw"), encoding="utf-8")
    (report,) = failures(conformance_test(Differs, known=tmp_path / "known.yaml"))
    assert "replicas.B.leo is 2, and 1 in the model" in report


def test_conformance_test_rejects_an_invalid_file_of_known_differences(tmp_path: Path) -> None:
    (tmp_path / "known.yaml").write_text("- {field: leo}", encoding="utf-8")
    with pytest.raises(KnownError, match="why must be a text"):
        conformance_test(Differs, known=tmp_path / "known.yaml")
    with pytest.raises(FileNotFoundError):
        conformance_test(Differs, known=tmp_path / "none.yaml")


def test_nonconformance_is_an_assertion_error() -> None:
    assert issubclass(NonConformance, AssertionError)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"protocol": "kip-1"}, ProtocolError),
        ({"replicas": 1}, ConfigurationError),
        ({"judge": "kindly"}, ValueError),
        ({"replica": 2}, TypeError),
    ],
)
def test_conformance_test_rejects_a_wrong_argument(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        conformance_test(Reference, **arguments)


def test_the_conform_package_exports_exactly_its_listed_names() -> None:
    import epochfuzz.harness.conform as package

    assert all(getattr(package, name) for name in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'conformance'"):
        _ = package.conformance


@pytest.mark.parametrize("selection", [Selection.COVERAGE, Selection.BUGS])
def test_conformance_test_runs_chosen_schedules(selection: Selection) -> None:
    class Counting(Reference):
        seen: ClassVar[set[tuple[str, ...]]] = set()

        def reset(self, config: dict[str, Any], protocol: str) -> list[str]:
            self.events: list[str] = []
            return super().reset(config, protocol)

        def apply(self, event: str) -> bool:
            self.events.append(event)
            self.seen.add(tuple(self.events))
            return super().apply(event)

    assert failures(conformance_test(Counting, selection=selection, replicas=3), examples=20) == []
    protocol, settings = parse_protocol("kip-320"), Configuration(replicas=3)

    def sent(events: bytes) -> bytes:
        model = LockStep(protocol, settings)
        return bytes(event for event in events if model.advance(event))

    drawn = (sent(schedule(selection, protocol, settings, 0, number)) for number in range(256))
    assert any(tuple(schedule_texts(events[:20])) in Counting.seen for events in drawn)


def test_conformance_test_rejects_an_unknown_selection() -> None:
    with pytest.raises(ValueError, match="luck"):
        conformance_test(Reference, selection="luck")
