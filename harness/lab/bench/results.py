"""Run the whole benchmark, and write its results as JSON and as Markdown."""

import importlib.metadata
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from epochfuzz.harness.documents.records import Scale
from epochfuzz.harness.lab.bench import detection, minimal, processes, searching, spin, startup, throughput
from epochfuzz.harness.lab.bench.detection import Detection
from epochfuzz.harness.lab.bench.measured import measured_code
from epochfuzz.harness.lab.bench.minimal import Reproduced
from epochfuzz.harness.lab.bench.processes import ColdStart, SparkEfficiency
from epochfuzz.harness.lab.bench.searching import MeasuredSearch
from epochfuzz.harness.lab.bench.spread import Spread
from epochfuzz.harness.lab.bench.startup import Started
from epochfuzz.harness.lab.bench.throughput import Speed
from epochfuzz.harness.lab.mutants import hunting
from epochfuzz.harness.lab.mutants.mutant import Mutant
from epochfuzz.harness.lab.mutants.proofs import proofs
from epochfuzz.harness.reference import markdown
from epochfuzz.harness.text.plain import fields_of

if TYPE_CHECKING:
    from epochfuzz.harness.documents import measures

_LIBRARIES = ("numba", "numpy", "hypothesis", "pyspark")


# About twenty minutes on two cores without other work.
STANDARD = Scale(
    rounds=3,
    step=4,
    seeds=5,
    hypothesis_seeds=1,
    most=10_000_000,
    most_elsewhere=500,
    spark_schedules=10_000_000,
    spark_rounds=1,
)
FULL = Scale(
    rounds=5,
    step=1,
    seeds=20,
    hypothesis_seeds=3,
    most=10_000_000,
    most_elsewhere=20_000,
    spark_schedules=10_000_000,
    spark_rounds=1,
)  # some hours
_HARDEST = 5  # mutants in the table of detections


@dataclass(kw_only=True)
class Measurements:
    """The results of the benchmark, and the machine that it ran on."""

    scale: Scale
    machine: dict[str, str]
    speeds: list[Speed] = field(default_factory=list)
    searches: list[MeasuredSearch] = field(default_factory=list)
    detections: list[Detection] = field(default_factory=list)
    reproduced: list[Reproduced] = field(default_factory=list)
    cold_start: ColdStart | None = None
    started: list[Started] = field(default_factory=list)
    spark: SparkEfficiency | None = None

    @property
    def missed(self) -> list[Detection]:
        """Return the results of the default strategy for the mutants that it missed with at least one seed."""
        return [each for each in self.detections if each.strategy == hunting.DEFAULT_STRATEGY and each.missed]

    @property
    def not_minimal(self) -> list[Reproduced]:
        """Return the shrunk failures that are not proven shortest."""
        return [each for each in self.reproduced if not each.minimal]

    @property
    def slowest(self) -> Detection:
        """Return the results of the default strategy for the mutant that needed the most schedules for one seed."""
        default = [each for each in self.detections if each.strategy == hunting.DEFAULT_STRATEGY]
        return max(default, key=lambda each: max(each.schedules))


def measure(scale: Scale, defects: Sequence[Mutant], doing: Callable[[str], None]) -> Measurements:
    """Run all measurements one after another, and call `doing` with a text about each step."""
    results = Measurements(scale=scale, machine=machine())
    doing("cold start: compiling everything")
    results.cold_start = processes.cold_start(scale.rounds)
    doing("start-up of short commands")
    results.started = startup.measure(scale.rounds)
    doing("Spark compared with threads")
    results.spark = processes.spark_efficiency(scale.spark_schedules, scale.spark_rounds)
    doing("throughput, side by side")
    results.speeds = list(throughput.measure(scale.rounds))
    doing("exhaustive search, on one core and on all")
    results.searches = searching.measure(scale.rounds)
    doing("compiling the mutants")
    for reproduced in minimal.reproduce(defects):
        results.reproduced.append(reproduced)
        doing(f"shrank {reproduced.defect.name} to {reproduced.length} events")
    for each in detection.detections(scale.seeds, scale.most, scale.most_elsewhere, defects):
        results.detections.append(each)
        doing(f"hunting {each.defect.name}: {each.strategy} took {each.typical:,.0f} schedules")
    for each in detection.hypothesis_detections(scale.hypothesis_seeds, defects):
        results.detections.append(each)
        doing(f"hunting {each.defect.name} with the Hypothesis state machine")
    return results


def machine() -> dict[str, str]:
    """Return the processor, and the versions of Python and of libraries, by name."""
    versions = {name: importlib.metadata.version(name) for name in _LIBRARIES}
    cores = f"{os.cpu_count()} cores"
    return {"processor": f"{_processor()}, {cores}", "Python": platform.python_version(), **versions}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def to_json(results: Measurements) -> "measures.Bench":
    """Return the results as a JSON document, which also has the results of every seed."""
    return {
        "machine": results.machine,
        "scale": fields_of(results.scale),
        "throughput": [_throughput(speed) for speed in results.speeds],
        "search": [_search(each) for each in results.searches],
        "detection": [_detection(each) for each in results.detections],
        "reproducers": [_reproducers(each) for each in results.reproduced],
        "cold_start": None
        if results.cold_start is None
        else {
            "first": results.cold_start.first,
            "cold": results.cold_start.cold,
            "warm": results.cold_start.warm.json(),
        },
        "started": [
            {"command": " ".join(each.words), "seconds": each.seconds.json(), "ratio": each.ratio.json()}
            for each in results.started
        ],
        "spark": None
        if results.spark is None
        else {
            "cores": results.spark.cores,
            "schedules": results.spark.schedules,
            "fuzz": results.spark.fuzz.json(),
            "campaign": results.spark.campaign.json(),
            "ratio": results.spark.ratio.json(),
        },
        "missed": [each.defect.name for each in results.missed],
        "not_minimal": [each.defect.name for each in results.not_minimal],
        "slowest": {"defect": results.slowest.defect.name, "schedules": max(results.slowest.schedules)},
    }


def _throughput(speed: Speed) -> "measures.Throughput":
    return {
        "subject": speed.subject.name,
        "unit": f"{speed.subject.unit} per CPU second",
        "per_second": speed.per_second.json(),
        "behind": speed.behind.json(),
    }


def _search(each: MeasuredSearch) -> "measures.Searched":
    return {
        "protocol": searching.PROTOCOL.name,
        "configuration": each.settings.changed(),
        "symmetry": each.symmetric,
        "states": each.found.states,
        "transitions": each.found.transitions,
        "bytes_per_state": round(each.bytes_per_state, 1),
        "states_per_second_one_core": each.one_core.json(),
        "states_per_second_all_cores": each.all_cores.json(),
        "ratio": each.ratio.json(),
        "states_per_second_spin": None if each.spin is None else each.spin.json(),
    }


def _detection(each: Detection) -> "measures.Detected":
    return {
        "defect": each.defect.name,
        "strategy": each.strategy,
        "held_back": each.is_held_back,
        "most": each.most,
        "median": each.typical,
        "percentile_95": each.nearly_always,
        "median_seconds": Spread.of([hunt.seconds for hunt in each.hunts]).median,
        "missed_seeds": each.missed,
        "schedules": [hunt.schedules for hunt in each.hunts],
    }


def _reproducers(each: Reproduced) -> "measures.Reproducer":
    return {
        "found": each.found,
        "length": each.length,
        "proven": each.proven,
        "certified": each.certified,
        "bounded": each.bounded,
        "seconds": each.seconds,
        "defect": each.defect.name,
        "minimal": each.minimal,
    }


def summary(results: Measurements) -> str:
    """Return the most important results as a Markdown table, and the machine that they were measured on."""
    rows = []
    for speed in results.speeds:
        behind = speed.behind.median
        times = "" if behind == 1 else f"{behind:,.0f} times" if behind > 10 else f"{behind:.2f} times"
        per_second = f"{_number(speed.per_second.median)} {speed.subject.unit}/s ({_range(speed.per_second)})"
        rows.append((speed.subject.name, per_second, times))
    default = [each for each in results.detections if each.strategy == hunting.DEFAULT_STRATEGY]
    found = len(default) - len(results.missed)
    rows.append((
        f"broken protocols found with each of {results.scale.seeds} seeds", f"{found} of {len(default)}",
        f"slowest {results.slowest.defect.name}: {max(results.slowest.schedules):,} schedules",
    ))  # fmt: skip
    rows.append(_held_back_row(default))
    minimal_ones = len(results.reproduced) - len(results.not_minimal)
    shrinking = Spread.of([each.seconds for each in results.reproduced])
    rows.append((
        "shrunk failures that are as short as the proven shortest schedule",
        f"{minimal_ones} of {len(results.reproduced)}, {sum(r.bounded for r in results.reproduced)} within bounds",
        f"shrunk and certified in {shrinking.median:.2g} s (at most {shrinking.greatest:.0f})",
    ))  # fmt: skip
    if results.cold_start is not None:
        warm = results.cold_start.warm
        rows.append((
            "from the command to a certified schedule with a loss",
            f"{warm.median:.1f} s ({warm.least:.1f} to {warm.greatest:.1f})",
            f"with an empty cache, {results.cold_start.first:.1f} s to a first finding,"
            f" {results.cold_start.cold:.0f} s to all findings",
        ))  # fmt: skip
    for started in results.started:
        low, high = f"{started.ratio.least:.2f}", f"{started.ratio.greatest:.2f}"
        rows.append((
            f"`epochfuzz {' '.join(started.words)}`, compiled", f"{started.seconds.median:.2f} s of processor time",
            f"{started.ratio.median:.2f} times a bare `import numba` ({low} to {high})",
        ))  # fmt: skip
    if results.spark is not None:
        ratio = results.spark.ratio
        rows.append((
            f"campaign on Spark, {results.spark.cores} cores", f"{_number(results.spark.campaign.median)} events/s",
            f"{100 * ratio.median:.0f} percent of `fuzz --jobs {results.spark.cores}`",
        ))  # fmt: skip
    where = ", ".join(f"{name} {value}" if name != "processor" else value for name, value in results.machine.items())
    head = ("measured", "median (least to greatest)", "compared")
    digest = (
        f"Throughput is per second of processor time of one thread. Digest of the measured code: {measured_code()}."
    )
    return f"{markdown.table(head, rows)}\n\n{where}. {digest}\n"


def _held_back_row(default: list[Detection]) -> tuple[str, str, str]:
    """Return a table row that compares the mutants held out from the tuning of weights with all other mutants."""
    held_back, others = ([each for each in default if each.is_held_back == which] for which in (True, False))
    found = sum(not each.missed for each in held_back)
    means = " compared with ".join(f"{detection.mean_schedules(half):,.1f}" for half in (held_back, others) if half)
    return (
        "of them, held out from the last tuning", f"{found} of {len(held_back)}",
        f"{means} schedules for the others (geometric means)",
    )  # fmt: skip


def search_table(results: Measurements) -> str:
    """Return a Markdown table of the search speed on one core and on all cores, with and without symmetry."""
    rows = [
        (
            f"{each.settings.replicas} replicas, {each.settings.records} record{'s' * (each.settings.records != 1)},"
            f" {each.settings.epochs} epoch changes",
            "yes" if each.symmetric else "no",
            f"{each.found.states:,}",
            f"{each.bytes_per_state:.0f}",
            f"{_number(each.one_core.median)}",
            f"{_number(each.all_cores.median)}",
            f"{each.ratio.median:.2f} times ({each.ratio.least:.2f} to {each.ratio.greatest:.2f})",
            _number(each.spin.median) if each.spin else "",
        )
        for each in results.searches
    ]
    head = (
        "exhaustive search", "symmetry", "states", "bytes each", "states/s, one core", "all cores",
        "all compared with one", "Spin, one core",
    )  # fmt: skip
    where = f"`{searching.PROTOCOL.name}`, every state within the bounds.{_without_spin()}"
    return f"{markdown.table(head, rows)}\n\n{where}\n"


def _without_spin() -> str:
    return f" Spin was not measured: {', '.join(spin.missing())} is not installed." if spin.missing() else ""


def detection_table(results: Measurements) -> str:
    """Return a Markdown table of the schedules that each strategy needs for the hardest mutants, hardest first."""
    strategies = list(dict.fromkeys(each.strategy for each in results.detections))
    by_defect: dict[str, dict[str, Detection]] = {}
    for each in results.detections:
        by_defect.setdefault(each.defect.name, {})[each.strategy] = each
    hardest = sorted(by_defect, key=lambda name: -by_defect[name][hunting.DEFAULT_STRATEGY].typical)
    lengths = {name: len(proofs()[name].shortest) for name in hardest}
    rows = [
        (name, str(lengths[name]), _held_back(by_defect[name]), *(_taken(by_defect[name][s]) for s in strategies))
        for name in hardest[:_HARDEST]
    ]
    head = ("mutant", "events", "held out", *strategies)
    won = {s: sum(s in detection.wins(list(each.values())) for each in by_defect.values()) for s in strategies}
    most = ", ".join(f"{each.most:,} for {name}" for name, each in by_defect[hardest[0]].items())
    return (
        f"{markdown.table(head, rows)}\n\nThe {len(rows)} hardest of the {len(by_defect)} measured mutants. A cell has"
        " two numbers of schedules until a violation, the median and the 95th percentile over the seeds, and the median"
        " processor time. `>` means that the strategy missed the mutant within its limit:"
        f" {most}. *Events* is the length of a shortest schedule. The last tuning of weights did not use the mutants"
        " that were held out. Each strategy needed the fewest schedules for this number of mutants (ties count for each"
        " strategy): " + ", ".join(f"{name} {count}" for name, count in won.items()) + f", of {len(by_defect)}.\n"
    )


def _held_back(of_one_defect: dict[str, Detection]) -> str:
    return "yes" if of_one_defect[hunting.DEFAULT_STRATEGY].is_held_back else ""


def _taken(each: Detection) -> str:
    seconds = Spread.of([hunt.seconds for hunt in each.hunts]).median
    return f"{_limited(each.typical, each.most)} / {_limited(each.nearly_always, each.most)}, {seconds:.2g} s"


def _limited(schedules: float, most: int) -> str:
    return f"{schedules:,.0f}" if schedules <= most else ">"


def _number(value: float) -> str:
    return f"{value / 1e6:.2f} million" if value >= 1e6 else f"{value:,.0f}"


def _range(spread: Spread) -> str:
    return f"{_number(spread.least)} to {_number(spread.greatest)}"
