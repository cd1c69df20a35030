"""Write test sequences into files, as requests with the model's replies. A test can play them without epochfuzz.

A line is `{"request": ..., "reply": ...}` in the format of the conformance protocol. A test sequence is a reset and the
lines up to the next reset. The line of an event also has the number of its transition, in `transition`. A file appears
only when it is complete, and the manifest is written last.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from epochfuzz.harness.conform.exhaustive.graph import Graph, Tour
from epochfuzz.harness.conform.oracle.lockstep import LockStep, comparable
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.environment.files import replace_file
from epochfuzz.harness.environment.version import epochfuzz_version, model_digest
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import event_text
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.documents import searches

MANIFEST = "manifest.json"
_SAMPLE = 64  # the number of test sequences from which the size is estimated

Report = Callable[[str], None]


@dataclass(frozen=True)
class Size:
    """The size of the files to write: numbers of transitions, test sequences, steps and files.

    `bytes` is an estimate of the total size of the files.
    """

    transitions: int
    tours: int
    steps: int
    bytes: int
    files: int


@dataclass
class WrittenTours:
    """The files written so far, and the number of transitions that they cover."""

    files: "list[searches.TourFile]" = field(default_factory=list)
    transitions: int = 0

    @property
    def tours(self) -> int:
        """The number of test sequences in the files."""
        return sum(file["tours"] for file in self.files)

    @property
    def steps(self) -> int:
        """The number of events in the files."""
        return sum(file["steps"] for file in self.files)

    @property
    def bytes(self) -> int:
        """The total size of the files, in bytes."""
        return sum(file["bytes"] for file in self.files)


class TourFiles:
    """Writes files with lines of JSON into a directory: test sequences that cover all transitions of a graph."""

    NAME = "tours-{}.jsonl"
    TOGETHER = 250  # test sequences in a file, a few megabytes

    def __init__(self, graph: Graph, protocol: Protocol, settings: Configuration) -> None:
        self.written = WrittenTours()
        self._graph, self.protocol, self.settings = graph, protocol, settings
        self._seen = np.zeros(graph.size, bool)

    def size(self, report: Report) -> Size:
        """Return the size of the files to write. `report` is called with the progress.

        The method plans all test sequences, and estimates the bytes from a sample of the sequences.
        """
        lengths = []
        for number, tour in enumerate(self._tours(), 1):
            lengths.append(len(tour.events))
            if number % 1_000 == 0:
                report(f"planning tours · {number:,} tours")
        steps, transitions = sum(lengths), int(self._graph.reached(np.zeros(self._graph.size, bool)).sum())
        sample = list(islice(self._tours(), 0, None, max(1, len(lengths) // _SAMPLE)))
        nothing = len(self.text(Tour(b"", (), ())))
        of_events = sum(len(self.text(tour)) - nothing for tour in sample)
        each = of_events / max(1, sum(len(tour.events) for tour in sample))
        much = int(len(lengths) * nothing + steps * each)
        return Size(transitions, len(lengths), steps, much, files=-(-len(lengths) // self.TOGETHER))

    def write(self, directory: Path, size: Size, report: Report) -> None:
        """Write all files into an empty directory.

        If writing fails or is interrupted, the manifest lists the files that are complete. Raises OSError.
        """
        directory.mkdir(parents=True, exist_ok=True)
        digits = max(4, len(str(size.files)))
        try:
            tours, number = self._tours(), count(1)
            while together := list(islice(tours, self.TOGETHER)):
                self._write(directory / self.NAME.format(f"{next(number):0{digits}}"), together, size, report)
        finally:
            replace_file(directory / MANIFEST, json.dumps(self.manifest(), indent=1) + "\n")

    def manifest(self) -> "searches.Tours":
        """Return the manifest: the files, counts, and whether the files cover all transitions."""
        written, settings = self.written, self.settings
        nothing = np.zeros(self._graph.size, bool)
        return {
            "epochfuzz": epochfuzz_version(),
            "model": model_digest(),
            "version": wire.VERSION,
            "protocol": self.protocol.name,
            "configuration": asdict(settings),
            "transitions": written.transitions,
            "tours": written.tours,
            "steps": written.steps,
            "bytes": written.bytes,
            "complete": written.transitions == int(self._graph.reached(nothing).sum()),
            "files": written.files,
        }

    def _tours(self) -> Iterator[Tour]:
        return self._graph.tours(np.ones(self._graph.size, bool), np.zeros(self._graph.size, bool))

    def _write(self, path: Path, tours: list[Tour], size: Size, report: Report) -> None:
        steps = self.written.steps
        lines = []
        for tour in tours:
            lines.append(self.text(tour))
            steps += len(tour.events)
            report(f"writing tours · {steps:,} of {size.steps:,} steps")
        text = "".join(lines)
        replace_file(path, text)
        for tour in tours:
            self._seen[list(tour.edges)] = True
        known, self.written.transitions = self.written.transitions, int(self._seen.sum())
        self.written.files.append(
            {
                "name": path.name,
                "tours": len(tours),
                "steps": steps - self.written.steps,
                "new_transitions": self.written.transitions - known,
                "bytes": len(text),
            }
        )

    def text(self, tour: Tour) -> str:
        """Return the lines of a test sequence: each request, and the reply that the adapter must give."""
        model = LockStep(self.protocol, self.settings)
        reset = json.loads(wire.reset_request(wire.config_of(self.settings), self.protocol.name))
        lines = [line({"request": reset, "reply": {"ok": True}})]
        for event, edge in zip(tour.events, tour.edges, strict=True):
            model.advance(event)
            request = {"op": "event", "event": event_text(event)}
            reply = {"applied": True, "observation": model.compared(comparable(model.model))}  # type: ignore[arg-type]
            lines.append(line({"transition": edge, "request": request, "reply": reply}))
        return "".join(lines)


def line(step: dict[str, object]) -> str:
    """Return a JSON value as a line of text."""
    return json.dumps(step, separators=(",", ":")) + "\n"
