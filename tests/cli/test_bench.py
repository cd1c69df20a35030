"""The tables and summaries of the benchmark. No test checks a duration."""

import json
import re
from typing import Any

import pytest

from epochfuzz.harness.commands.bench import bench
from epochfuzz.harness.documents.records import Scale
from epochfuzz.harness.engine.explore.explore import Exploration
from epochfuzz.harness.lab.bench import detection, measured, results, startup
from epochfuzz.harness.lab.bench.detection import Detection, Hunt
from epochfuzz.harness.lab.bench.minimal import Reproduced
from epochfuzz.harness.lab.bench.processes import ColdStart, SparkEfficiency
from epochfuzz.harness.lab.bench.searching import MeasuredSearch
from epochfuzz.harness.lab.bench.spread import Spread, percentile_95
from epochfuzz.harness.lab.bench.startup import Started
from epochfuzz.harness.lab.bench.throughput import SUBJECTS, Speed
from epochfuzz.harness.lab.mutants import DEFECTS
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from tests.printed import check_json
from tests.project.sources import ROOT

EASY, HARD = DEFECTS[:2]


def taken(defect, strategy, *schedules, most=1000):
    return Detection(defect, strategy, tuple(Hunt(each, 0.5) for each in schedules), most)


FOUND = Exploration(
    states=200, transitions=900, depth=5, complete=True, shortest=None, memory_exhausted=False, memory=5000
)


def made(**changes):
    subject: dict[str, Any] = {
        "speeds": [Speed(SUBJECTS[0], Spread.of([8e6, 1e7, 9e6]), Spread.of([1.0])),
                   Speed(SUBJECTS[1], Spread.of([1e5]), Spread.of([90.0]))],
        "detections": [taken(EASY, "swarm", 1, 2, 3), taken(HARD, "swarm", 10, 900, 20),
                       taken(EASY, "uniform", 1, 1, 1), taken(HARD, "uniform", None, None, 7)],
        "reproduced": [Reproduced(defect=EASY, found=30, length=1, proven=1,
                                  certified=True, bounded=False, seconds=0.75)],
        "cold_start": ColdStart(4.5, 40.0, Spread.of([2.0])),
        "searches": [MeasuredSearch(settings=Configuration(), symmetric=False, found=FOUND, one_core=Spread.of([1e6]),
                                    all_cores=Spread.of([1.9e6]), ratio=Spread.of([1.8, 1.9, 2.0]),
                                    spin=Spread.of([8e5]))],
        "started": [Started(("--version",), Spread.of([0.2]), Spread.of([0.4, 0.5, 0.6]))],
        "spark": SparkEfficiency(2, 1000, Spread.of([1e7]), Spread.of([9e6]), Spread.of([0.9])),
    }  # fmt: skip
    return results.Measurements(
        scale=results.STANDARD, machine={"processor": "a machine", "Python": "3"}, **(subject | changes)
    )


def test_the_search_table_compares_a_single_core_with_all_cores():
    line = results.search_table(made()).splitlines()[2]
    assert line == (
        "| 2 replicas, 15 records, 14 epoch changes | no | 200 | 25 | 1.00 million | 1.90 million"
        " | 1.90 times (1.80 to 2.00) | 800,000 |"
    )


@pytest.mark.parametrize(("count", "expected"), [(1, 1), (20, 19), (100, 95)])
def test_the_95th_percentile_is_the_smallest_value_that_covers_95_percent(count, expected):
    assert percentile_95(range(count, 0, -1)) == expected


def test_a_spread_has_the_median_the_least_and_the_greatest_value():
    assert Spread.of([5, 1, 2]) == Spread(2, 1, 5)


def test_a_miss_counts_as_one_schedule_more_than_the_limit():
    missed = taken(HARD, "uniform", None, None, 7)
    assert (missed.typical, missed.nearly_always, missed.missed) == (1001, 1001, [0, 1])


def test_the_strategy_with_the_fewest_schedules_wins_unless_all_strategies_miss():
    swarm, uniform, other = (taken(HARD, name, n) for name, n in (("swarm", 5), ("uniform", 9), ("other", 5)))
    assert detection.wins([swarm, uniform, other]) == ["swarm", "other"]
    assert detection.wins([taken(HARD, "swarm", None), taken(HARD, "uniform", None)]) == []


def test_the_slowest_mutant_has_the_worst_seed_of_the_default_strategy():
    assert (made().slowest.defect, max(made().slowest.schedules)) == (HARD, 900)


def test_a_mutant_that_a_single_seed_misses_counts_as_missed():
    assert made().missed == []
    assert [each.defect for each in made(detections=[taken(HARD, "swarm", 1, None)]).missed] == [HARD]


def test_a_longer_or_unproven_reproducer_counts_as_not_minimal():
    longer = Reproduced(defect=HARD, found=30, length=2, proven=1, certified=True, bounded=False, seconds=0.75)
    uncertain = Reproduced(defect=HARD, found=30, length=1, proven=1, certified=False, bounded=True, seconds=0.75)
    assert made(reproduced=[longer, uncertain]).not_minimal == [longer, uncertain]


def test_the_summary_compares_each_speed_with_the_compiled_walk():
    lines = results.summary(made()).splitlines()
    assert lines[2] == "| compiled walk | 9.00 million events/s (8.00 million to 10.00 million) |  |"
    beside = "compiled walk, four reference designs side by side"
    assert lines[3] == f"| {beside} | 100,000 events/s (100,000 to 100,000) | 90 times |"
    assert "| campaign on Spark, 2 cores | 9.00 million events/s | 90 percent of `fuzz --jobs 2` |" in lines
    assert lines[-1].startswith("a machine, Python 3.")


def test_the_detection_table_starts_with_the_hardest_mutant_and_marks_misses():
    lines = results.detection_table(made()).splitlines()
    assert [line.split(" | ")[0] for line in lines[2:4]] == [f"| {HARD.name}", f"| {EASY.name}"]
    assert "| 20 / 900, 0.5 s | > / >, 0.5 s |" in lines[2]
    assert ": swarm 1, uniform 1, of 2" in lines[-1]


def test_the_summary_has_a_row_for_the_mutants_held_out_from_tuning():
    assert [taken(each, "swarm", 1).is_held_back for each in (EASY, HARD)] == [True, False]
    row = next(line for line in results.summary(made()).splitlines() if "held out from the last tuning" in line)
    assert row.endswith("| 1 of 1 | 1.8 compared with 56.5 schedules for the others (geometric means) |")


def test_the_json_document_of_bench_has_the_schedules_of_every_seed():
    document = results.to_json(made())
    check_json(["bench", "--json"], json.dumps(document))
    assert document["detection"][3]["schedules"] == [None, None, 7]
    assert document["slowest"] == {"defect": HARD.name, "schedules": 900}
    assert document["missed"] == document["not_minimal"] == []


def test_the_digest_of_the_measured_code_ignores_comments_and_docstrings(monkeypatch, tmp_path):
    monkeypatch.setattr(measured, "_CHECKOUT", tmp_path)
    (tmp_path / "model").mkdir()
    digests = []
    for text in ('"""A."""\nx = 1', '"""B."""\n\nx = 1  # one', "pass\nx = 2"):
        (tmp_path / "model" / "rules.py").write_text(text, encoding="utf-8")
        digests.append(measured.measured_code())
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.slow
def test_the_results_page_was_measured_with_the_current_code():
    page = (ROOT / "docs" / "benchmark" / "results.md").read_text(encoding="utf-8")
    command = "epochfuzz bench --write docs/benchmark/results.md"
    assert f"Digest of the measured code: {measured.measured_code()}." in page, f"the code has changed; run {command}"


def test_bench_stops_before_any_measurement_if_the_results_file_cannot_be_written(epochfuzz, tmp_path):
    done = epochfuzz("bench", "--write", tmp_path / "missing" / "results.md")
    assert (done.code, done.out) == (2, "")
    assert re.search(r"--write: .*results\.md: cannot be written: there is no directory .*missing", done.err)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_a_quick_bench_detects_every_mutant_with_a_shortest_reproducer(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        results,
        "STANDARD",
        Scale(
            rounds=2,
            step=1,
            seeds=5,
            hypothesis_seeds=1,
            most=10_000_000,
            most_elsewhere=500,
            spark_schedules=200_000,
            spark_rounds=1,
        ),
    )
    assert bench(full=False, write=tmp_path / "results.md", json=True) == 0
    out = capsys.readouterr().out
    check_json(["bench", "--json"], out)
    document = json.loads(out)
    assert document["missed"] == document["not_minimal"] == []
    assert "| compiled walk |" in (tmp_path / "results.md").read_text(encoding="utf-8")


def test_the_summary_compares_the_startup_time_with_a_bare_import_of_numba():
    (line,) = (each for each in results.summary(made()).splitlines() if "--version" in each)
    assert line.endswith("compiled | 0.20 s of processor time | 0.50 times a bare `import numba` (0.40 to 0.60) |")
    assert results.to_json(made())["started"][0]["ratio"] == {"median": 0.5, "least": 0.4, "greatest": 0.6}


@pytest.mark.thorough
def test_the_first_commands_of_the_startup_measurement_succeed(monkeypatch):
    monkeypatch.setattr(startup, "COMMANDS", startup.COMMANDS[:3])
    assert [each.words for each in startup.measure(1)] == [*startup.COMMANDS[:3]]
