"""The work of a campaign's workers: each task takes Arrow batches of numbers and answers with batches of rows.

This is what runs on executors, and what it imports is what they need: numpy, numba, pyarrow and Hypothesis.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign import blocks, coverage, findings
from epochfuzz.harness.campaign.machines import run_user_machine
from epochfuzz.harness.campaign.parameters import Parameters
from epochfuzz.harness.search import findings as fuzz
from epochfuzz.harness.search.compilation import model_digest
from epochfuzz.harness.search.findings import Engine
from epochfuzz.harness.search.unreached import reachable

Batches = Iterator[pa.RecordBatch]


class WrongModelError(RuntimeError):
    """This worker has other rules than the campaign."""


def get_ready(parameters: str, numbers: Batches) -> Batches:
    """Compile the walk; one row for each worker, which is the last number that it was given."""
    campaign, walker = _walker(parameters)
    if campaign.engine == "walk":
        walker.walk(0, 1)
    for batch in numbers:
        last = batch.slice(batch.num_rows - 1)
    yield last


def walk_blocks(parameters: str, numbers: Batches) -> Batches:
    """Walk the blocks numbered; a row of blocks.SCHEMA for each. ~n, below 0, has block n walked again."""
    campaign, walker = _walker(parameters)
    for number in _each(numbers):
        again = number < 0
        first, count = campaign.range_of(~number if again else number)
        if campaign.machine is None:
            row = blocks.row(first, walker.walk(first, count), walker.protocols, again)
        else:
            steps, failures = run_user_machine(campaign.machine, campaign.seed, first, count)
            row = blocks.machine_row(first, count, steps, failures, again)
        yield pa.RecordBatch.from_pylist([row], schema=blocks.SCHEMA)


def shrink_breaches(argument: dict[str, Any], numbers: Batches) -> Batches:
    """Shrink and certify the breaches numbered; a row of findings.SHRUNK for each."""
    _, walker = _walker(argument["parameters"])
    for number in _each(numbers):
        breach = findings.breach_from_row(argument["breaches"][number])
        row = findings.row(fuzz.finding(walker, breach, candidates=argument["candidates"]))
        yield pa.RecordBatch.from_pylist([row], schema=findings.SHRUNK)


def reach_situations(parameters: str, numbers: Batches) -> Batches:
    """What complete search of small bounds meets under the protocols numbered; rows of coverage.REACHABLE."""
    campaign, _ = _walker(parameters)
    for number in _each(numbers):
        protocol = campaign.protocols[number]
        within = sorted(reachable(protocol, campaign.settings).situations)
        rows = [{"protocol": protocol.name, "situation": situation} for situation in within]
        yield pa.RecordBatch.from_pylist(rows, schema=coverage.REACHABLE)


@lru_cache(maxsize=4)
def _walker(parameters: str) -> tuple[Parameters, Engine]:
    """The parameters of a text and their walker, built once in a worker's life."""
    campaign = Parameters.from_text(parameters)
    if campaign.model != model_digest():
        raise WrongModelError(f"a worker runs model {model_digest()}, the campaign is of model {campaign.model}")
    return campaign, campaign.walker()


def _each(numbers: Batches) -> Iterator[int]:
    for batch in numbers:
        yield from batch.column(0).to_pylist()
