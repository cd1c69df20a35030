"""The Spark tasks that every job has: prepare a worker, and run blocks. A task maps Arrow batches to Arrow batches.

This module runs on executors. Its imports are the dependencies of executors: numpy, numba, pyarrow and Hypothesis.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.run.job import Job
from epochfuzz.harness.campaign.run.kinds import work_of_text
from epochfuzz.harness.campaign.store import blocks
from epochfuzz.harness.environment.version import model_digest

Batches = Iterator[pa.RecordBatch]


class WrongModelError(RuntimeError):
    """The rules of this worker's model differ from the rules of the campaign's model."""


def get_ready(text: str, numbers: Batches) -> Batches:
    """Prepare the job on this worker. Yields one row: the last number that the worker received.

    The driver counts these rows to find the number of workers.
    """
    work(text).get_ready()
    for batch in numbers:
        last = batch.slice(batch.num_rows - 1)
    yield last


def do_blocks(text: str, numbers: Batches) -> Batches:
    """Run the blocks with the given numbers, and yield a row of blocks.schema for each block.

    The number ~n (that is, -n - 1) stands for a second run of block n.
    """
    asked = work(text)
    schema = blocks.schema(asked)
    with asked.equipped():
        for number in each(numbers):
            again = number < 0
            yield pa.RecordBatch.from_pylist([blocks.row(asked, ~number if again else number, again)], schema=schema)


@lru_cache(maxsize=4)
def work(text: str) -> Job[Any]:
    """Return the job from its text, built once in each worker process. Raises WrongModelError."""
    asked = work_of_text(text)
    require_model(asked.model)
    return asked


def require_model(model: str) -> None:
    """Raise WrongModelError unless this worker's model has the digest `model`."""
    if model != model_digest():
        raise WrongModelError(
            f"a worker has model {model_digest()}, but the campaign needs model {model}; install the driver's"
            " Numba on each worker"
        )


def each(numbers: Batches) -> Iterator[int]:
    """Yield the numbers in the first column of batches."""
    for batch in numbers:
        yield from batch.column(0).to_pylist()
