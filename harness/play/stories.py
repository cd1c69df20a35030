"""Stories: the descriptions of cases that `play` shows, and the cases that `play` offers to newcomers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from epochfuzz.harness.links.position import Position, parse_query
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.cases.case import Case


@dataclass(frozen=True)
class CaseStory:
    """The description of a case: its `why`. `query` is a URL query with the events and the settings of the case."""

    query: str  # in the form of Position.query
    why: str

    def tells_of(self, position: Position) -> bool:
        """Return whether a position has the events and the settings of the case. The step does not matter."""
        of_case = parse_query(self.query)
        return (position.events, position.settings) == (of_case.events, of_case.settings)


@dataclass(frozen=True)
class _FirstStory:
    case: str
    title: str
    shows: str
    protocols: tuple[str, ...]


# In this order, each story needs only the stories before it.
_FIRST = (
    _FirstStory(
        "normal-replication",
        "Two rounds of fetch",
        "The leader raises its high watermark when the follower fetches again. The follower learns it one fetch later.",
        ("hw",),
    ),
    _FirstStory(
        "m1-loss",
        "A committed record is lost",
        "With the high watermark only (hw), a follower truncates its log to its own high watermark, and then becomes"
        " the leader. With leader epochs (kip-101), the follower keeps the record.",
        ("hw", "kip-101"),
    ),
    _FirstStory(
        "divergence-under-the-high-watermark",
        "Two logs diverge",
        "With the high watermark only (hw), the two replicas have different records at offset 0. With leader epochs"
        " (kip-101), the logs of the replicas agree.",
        ("hw", "kip-101"),
    ),
)


@dataclass(frozen=True)
class Beginning:
    """A story for a newcomer: its title, a description of its content, and the position where it begins."""

    title: str
    shows: str
    position: Position


def stories_of(cases: "Iterable[Case]") -> dict[str, CaseStory]:
    """Return the stories of cases, by id."""
    return {
        case.id: CaseStory(Position(settings=case.settings, events=case.events).query(), case.why.strip())
        for case in cases
    }


def beginnings(stories: Mapping[str, CaseStory]) -> Iterator[Beginning]:
    """Yield the stories for a newcomer, the simplest first."""
    for first in _FIRST:
        if first.case in stories:
            protocols = tuple(map(parse_protocol, first.protocols))
            start = replace(parse_query(stories[first.case].query), protocols=protocols, step=0, case=first.case)
            yield Beginning(first.title, first.shows, start)
