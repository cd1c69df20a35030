"""Draw the figures of the documentation. Each figure shows the replay of a case of the corpus.

`python -m epochfuzz.harness.lab.pictures`, in a checkout, draws all figures again.
"""

from dataclasses import dataclass
from pathlib import Path

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.lab.film import film
from epochfuzz.harness.trace.replay import replay
from epochfuzz.harness.trace.story import story_of
from epochfuzz.harness.views.drawings import svg
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure of the documentation, or a film. `steps` are the steps that a figure shows, or None for all steps.

    `file` is the path of the SVG file. `case` is the path of the case below corpus/, without `.yaml`.
    """

    file: str
    title: str
    case: str
    protocols: tuple[str, ...]
    steps: tuple[int, ...] | None = None
    is_film: bool = False


PICTURES = (
    Picture(
        file="docs/pictures/walk.svg",
        title="A committed record is lost under the high watermark, and kept with leader epochs",
        case="history/kafka-1211-truncation-to-high-watermark",
        protocols=("hw", "kip-101"),
        is_film=True,
    ),
    Picture(
        file="docs/pictures/normal-replication.svg",
        title="A follower's high watermark is one round trip late",
        case="documents/normal-replication",
        protocols=("kip-101",),
        steps=(4, 5),
    ),
    Picture(
        file="docs/pictures/high-watermark-loss.svg",
        title="A committed record is lost under the high watermark, and kept with leader epochs",
        case="history/kafka-1211-truncation-to-high-watermark",
        protocols=("hw", "kip-101"),
        steps=(7, 9),
    ),
    Picture(
        file="docs/pictures/fast-leader-fail-over.svg",
        title="KAFKA-6361: two elections in a row, and logs diverge forever",
        case="history/kafka-6361-fast-leader-fail-over",
        protocols=("kip-101", "kip-279"),
        steps=(13, 16),
    ),
    Picture(
        file="docs/pictures/zombie.svg",
        title="KAFKA-7395: a leader counts a fetch of an earlier epoch",
        case="history/kafka-7395-unfenced-fetch",
        protocols=("kip-279", "kip-320"),
        steps=(8, 14),
    ),
    Picture(
        file="docs/findings/re-elected-leader.svg",
        title="A re-elected leader that missed an epoch commits what its follower has truncated",
        case="history/re-elected-leader",
        protocols=("kafka-2.6.1", "kip-320"),
        steps=(12,),
    ),
)


def drawn(picture: Picture) -> str:
    """Return a figure or a film as the text of an SVG file."""
    case = load_case(ROOT / "corpus" / f"{picture.case}.yaml")
    runs = [replay(case.events, parse_protocol(name), case.settings) for name in picture.protocols]
    story = story_of(*runs)
    return film(story, picture.title) if picture.is_film else svg.drawing(story, picture.title, picture.steps)


if __name__ == "__main__":
    for each in PICTURES:
        (ROOT / each.file).write_text(drawn(each), encoding="utf-8")
        print(each.file)
