"""Compare the blocks that ran twice. If any result differs, none of the campaign's results can be trusted."""

from typing import Any

from epochfuzz.harness.campaign.run.job import Job
from epochfuzz.harness.campaign.store.tables import Tables
from epochfuzz.harness.documents.records import Checked


def checked(tables: Tables, work: Job[Any]) -> Checked:
    """Compare all results of each block that ran twice, and return numbers about the comparison.

    If the results of a block differ, the function calls Job.refuse, which raises an error for most kinds of job.
    """
    for number in tables.differing()[:1]:
        work.refuse(number)
    return tables.checked()
