"""Random schedules for a cluster: a seed determines them, each event is enabled, and replays shrink them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cluster.schedules.beside import protocol_of
from epochfuzz.harness.cluster.schedules.choose import ClusterChooser
from epochfuzz.harness.cluster.schedules.events import EVENTS
from epochfuzz.harness.cluster.schedules.fuzz import Fuzzer, request
from epochfuzz.harness.cluster.schedules.fuzzed import Fuzzed, describe
from epochfuzz.harness.conform.run.selection import Selection
from epochfuzz.harness.documents.cluster_records import Ended, Playing
from epochfuzz.harness.jobs.unfinished import UnfinishedRun
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts, verb_of

SETTINGS = Configuration(replicas=3)
PROTOCOL = protocol_of("4.3.1")
assert PROTOCOL is not None


class Player:
    """Loses a record if all of some events are played."""

    def __init__(self, losing: Sequence[str] = ()) -> None:
        self.losing, self.played = losing, 0

    def play(self, settings: object, schedule: Sequence[str]) -> Playing:
        self.played += 1
        lost = bool(self.losing) and set(self.losing) <= set(schedule)
        return Playing(ended=Ended.LOST if lost else Ended.KEPT, why="acknowledged and gone: m0@0" if lost else "")


def chooser(seed: int = 1) -> ClusterChooser:
    assert PROTOCOL is not None
    return ClusterChooser(PROTOCOL, SETTINGS, seed)


def fuzzer(player: Any, seed: int = 1, kept: list[Case] | None = None) -> Fuzzer:
    assert PROTOCOL is not None
    return Fuzzer(player, PROTOCOL, SETTINGS, seed, ([] if kept is None else kept).append)


@pytest.mark.parametrize("number", range(10))
def test_the_chooser_draws_only_cluster_events_that_are_enabled_in_the_model(number: int) -> None:
    events, run = chooser().drawn(number)
    assert len(events) <= 24
    assert {verb_of(event).text for event in events} <= set(EVENTS)
    assert all(step.applied for step in run.steps)


def test_a_seed_determines_the_chosen_schedule() -> None:
    once, again, other = (chooser(seed).chosen(range(20)) for seed in (1, 1, 2))
    assert once == again != other


def test_the_chooser_chooses_a_schedule_that_breaks_a_property_in_the_model_only_once() -> None:
    assert PROTOCOL is not None
    choosing = chooser()
    losing = parse_schedule(["produce A", "fetch B"])
    broken = replay(losing, PROTOCOL, SETTINGS)
    broken.first_broken["no-committed-loss"] = 2
    dull = replay(parse_schedule(["produce A"]), PROTOCOL, SETTINGS)
    drawn = {5: (losing, broken)}
    choosing.drawn = lambda number: drawn.get(number % 10, (b"\0", dull))  # type: ignore[method-assign]
    assert choosing.chosen(range(10)) == (5, losing)
    assert choosing.chosen(range(10, 20)) != (15, b"\0")


def test_the_fuzzer_shrinks_a_loss_by_replay_and_saves_the_loss_as_a_case() -> None:
    kept: list[Case] = []
    player = Player(["elect B", "produce A"])
    found = fuzzer(player, 7, kept)
    events = parse_schedule(["fetch B", "produce A", "receive B", "elect B", "notify B", "fetch C"])
    said: list[str] = []
    found._one(4, events, said.append)
    (finding,) = found.result.findings
    assert schedule_texts(finding.events) == ["produce A", "elect B"]
    assert (finding.shrunk_from, finding.model) == (6, Ended.KEPT)
    (case,) = kept
    assert case.id == "cluster-lost-7-4"
    assert case.events == finding.events
    assert case.expect["kafka-4.3.1"].broken == ()
    assert "shrinking 6 events" in said[0]
    found._one(5, events, said.append)  # a second of its kind is counted, and not shrunk
    assert len(found.result.findings) == 1
    assert found.result.ends[Ended.LOST] == 2
    assert found.result.unlike == {"LOST here, KEPT in the model": 2}


def test_the_summary_of_a_run_counts_schedules_events_replays_and_results() -> None:
    result = fuzzer(Player()).result
    result.schedules, result.events, result.seconds = 3, 30, 10.0
    result.ends.update([Ended.KEPT, Ended.KEPT, Ended.NOT_REACHED])
    assert describe(result) == (
        "3 schedules, 30 events in 10 s (3.0 a second, with 0 replays to shrink): 2 KEPT, 1 NOT REACHED"
    )


class InterruptedPlayer(Player):
    """Receives Ctrl-C before it plays one schedule more than it should."""

    is_first = True

    def __init__(self, schedules: int) -> None:
        super().__init__(["elect B"])
        self.left = schedules

    def play(self, settings: object, schedule: Sequence[str]) -> Playing:
        if not self.left and self.is_first:
            raise KeyboardInterrupt
        self.is_first = False
        return super().play(settings, schedule)


def interrupted(directory: Path, schedules: int) -> Fuzzed:
    """Play this number of schedules, and stop at the next one. Replays for shrinking don't count."""
    assert PROTOCOL is not None
    asked = request("4.3.1", PROTOCOL, SETTINGS, 60.0, Selection.RANDOM)
    player: Any = InterruptedPlayer(schedules)
    run: Any = Fuzzer(player, PROTOCOL, SETTINGS, 1, None, unfinished=UnfinishedRun(directory, asked, 1))
    one = run._one

    def counted(*arguments: Any) -> None:
        player.is_first = True
        one(*arguments)
        player.left -= 1

    run._one = counted
    with pytest.raises(KeyboardInterrupt):
        run.run(60.0, lambda line: None)
    result: Fuzzed = run.result
    return result


@pytest.mark.thorough
def test_a_resumed_run_has_the_schedules_and_findings_of_an_uninterrupted_run(tmp_path: Path) -> None:
    whole = interrupted(tmp_path / "whole", 6)
    parts = [interrupted(tmp_path / "parts", schedules) for schedules in (2, 1, 3)]
    assert [part.schedules for part in parts] == [2, 3, 6]
    assert whole.findings
    assert replace(parts[-1], seconds=0) == replace(whole, seconds=0)
