"""The tasks that every kind of work has: each takes Arrow batches of numbers and answers with batches of rows.

This is what runs on executors, and what it imports is what they need: numpy, numba, pyarrow and Hypothesis.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.run.kinds import work_of_text
from epochfuzz.harness.campaign.run.work import Work
from epochfuzz.harness.campaign.store import blocks
from epochfuzz.harness.version import model_digest

Batches = Iterator[pa.RecordBatch]


class WrongModelError(RuntimeError):
    """This worker has other rules than the campaign."""


def get_ready(text: str, numbers: Batches) -> Batches:
    """Have the work get ready; one row for each worker, which is the last number that it was given."""
    work(text).get_ready()
    for batch in numbers:
        last = batch.slice(batch.num_rows - 1)
    yield last


def do_blocks(text: str, numbers: Batches) -> Batches:
    """Do the blocks numbered; a row of blocks.schema for each. ~n, below 0, has block n done again."""
    asked = work(text)
    schema = blocks.schema(asked)
    with asked.equipped():
        for number in each(numbers):
            again = number < 0
            yield pa.RecordBatch.from_pylist([blocks.row(asked, ~number if again else number, again)], schema=schema)


@lru_cache(maxsize=4)
def work(text: str) -> Work[Any]:
    """Return the work of a text, built once in a worker's life. Raises WrongModelError."""
    asked = work_of_text(text)
    require_model(asked.model)
    return asked


def require_model(model: str) -> None:
    """Raise WrongModelError unless the rules are those of a campaign."""
    if model != model_digest():
        raise WrongModelError(f"a worker runs model {model_digest()}, the campaign is of model {model}")


def each(numbers: Batches) -> Iterator[int]:
    """Yield the numbers of batches."""
    for batch in numbers:
        yield from batch.column(0).to_pylist()
