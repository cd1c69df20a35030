"""Run random schedules so that a killed run can resume.

A run saves its tally every two seconds. The tally holds the results of all schedules so far.
"""

import base64
import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from epochfuzz.harness.engine.coverage.coverage import Coverage
from epochfuzz.harness.engine.walk import walking
from epochfuzz.harness.engine.walk.walk import Tally, Walker
from epochfuzz.harness.engine.walk.walking import Report, Walked
from epochfuzz.harness.jobs.unfinished import Request, UnfinishedRun
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_ARRAYS = ("events", "failures", "goals", "shortest")  # the fields of a tally that are arrays


def request(
    kind: str, protocols: Sequence[Protocol], settings: Configuration, schedules: int | None, seconds: float | None
) -> Request:
    """Return the parameters that identify a random run.

    The run ends after a number of `schedules`, or after some `seconds`. A parameter that doesn't limit the run is None.
    """
    names = [protocol.name for protocol in protocols]
    parameters = {"protocols": names, "configuration": asdict(settings), "schedules": schedules, "seconds": seconds}
    return Request(kind, parameters)


class KeptWalk:
    """A random run that saves its progress in a directory, and resumes an earlier run with equal parameters and seed.

    `before` is the saved result of the earlier run, or None. The constructor raises ProgressError if the operating
    system cannot read the file of the earlier run.
    """

    def __init__(self, directory: Path, asked: Request, seed: int) -> None:
        self.unfinished = UnfinishedRun(directory, asked, seed)
        self.before = self.unfinished.load(lambda kept: Walked(_tally(kept["tally"]), float(kept["seconds"])))

    def walk(
        self, walker: Walker[Any, Any], schedules: int | None, seconds: float | None, threads: int, report: Report
    ) -> Walked:
        """Run the remaining schedules with walking.walk, save the results, and return them. Raises ProgressError.

        The results include the schedules of the earlier run.
        """

        def keep(tally: Tally, elapsed: float) -> None:
            report(tally, elapsed)
            if self.unfinished.is_due:
                self._save(Walked(tally, elapsed))

        walked = walking.walk(walker, schedules, seconds, threads, keep, self.before)
        self._save(walked)
        return walked

    def _save(self, walked: Walked) -> None:
        self.unfinished.save({"seconds": walked.seconds, "tally": _text(walked.tally)})


def _text(tally: Tally) -> str:
    """Return a tally as text, which `_tally` converts back to the tally."""
    # np.savez needs a name for each array. The coverage of the first protocol has the names `0 situations`,
    # `0 schedules` and `0 first`.
    met = {f"{place} {name}": column for place, each in enumerate(tally.met) for name, column in vars(each).items()}
    arrays = {name: getattr(tally, name) for name in _ARRAYS}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, schedules=tally.schedules, **arrays, **met)
    return base64.b64encode(buffer.getvalue()).decode()


def _tally(text: str) -> Tally:
    """Return the tally from the text that `_text` made. Raises ValueError or KeyError for any other text."""
    try:
        with np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False) as read:
            arrays = {name: read[name] for name in _ARRAYS}
            columns = [each.name for each in fields(Coverage)]
            met = [Coverage(*(read[f"{place} {name}"] for name in columns)) for place in range(len(arrays["events"]))]
            return Tally(schedules=int(read["schedules"]), met=met, **arrays)
    except (OSError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(str(error)) from None
