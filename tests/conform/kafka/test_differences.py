"""Each difference that differences.yaml lists occurs on the code of each release that it names."""

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.rerun import rerun
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.kafka import ladder
from tests.conform.kafka.build import build_of
from tests.conform.kafka.differences import FILE
from tests.conform.kafka.rungs import RUNGS, Rung
from tests.systems.jvm.build import missing

pytestmark = pytest.mark.slow

BOUNDS = Configuration(replicas=3, records=15, epochs=14)  # those of random schedules
LISTED = [
    pytest.param(listed, rung, id=f"{number}-{rung.name}")
    for number, listed in enumerate(yaml.safe_load(FILE.read_text()), start=1)
    for rung in RUNGS
    if rung.name in map(str, listed["releases"])
]


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    for lack in missing():
        pytest.skip(lack)


def test_every_release_that_a_difference_names_is_in_the_release_matrix() -> None:
    names = {rung.name for rung in RUNGS}
    assert {str(each) for listed in yaml.safe_load(FILE.read_text()) for each in listed["releases"]} <= names


@pytest.mark.parametrize(("listed", "rung"), LISTED)
def test_kafka_differs_from_the_model_after_the_last_event_of_a_listed_schedule(
    listed: dict[str, Any], rung: Rung
) -> None:
    build_of(rung.release).class_path()  # the first build takes longer than the adapter may be silent
    case = Case("listed", "", BOUNDS, parse_schedule(listed["schedule"]))
    with CommandSubject([sys.executable, "-m", "tests.conform.kafka", *rung.words], ladder.PATIENCE) as release:
        differs = rerun(release, case, parse_protocol(rung.protocol)).differs
    assert differs is not None, "Kafka agrees with the model: remove the release from the entry"
    event, discrepancy = differs
    seen = "died" if discrepancy.field is None else discrepancy.field.rpartition(".")[2]
    assert (event, seen) == (len(listed["schedule"]), listed["field"] if listed["field"] != "any" else seen)
