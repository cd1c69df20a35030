"""Issues: Kafka's improvement proposals and JIRA issues, and what of the glossary speaks of each."""

import re
from dataclasses import dataclass

from epochfuzz.harness.reference.explain import Entry, UnknownName, glossary
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS

_ISSUE = re.compile(r"(KIP|KAFKA)[- ]?(\d+)", re.IGNORECASE)
_LINKS = {
    "KAFKA": "https://issues.apache.org/jira/browse/KAFKA-{}",
    # Pages of proposals are named by their titles; their list is in the order of numbers.
    "KIP": "https://cwiki.apache.org/confluence/display/KAFKA/Kafka+Improvement+Proposals",
}


@dataclass(frozen=True)
class Issue:
    """A KIP or a JIRA issue. `tells_of` are choices whose flaw it tells of; `mentioned_by` whatever else names it."""

    name: str
    link: str
    tells_of: tuple[Entry, ...]
    mentioned_by: tuple[Entry, ...]


def is_issue(name: str) -> bool:
    """Return whether a name is that of a KIP or an issue, in any case of letters."""
    return _ISSUE.fullmatch(name) is not None


def issue(name: str) -> Issue:
    """Return what there is of a KIP or an issue. Raises UnknownName for one that nothing here speaks of."""
    found = _ISSUE.fullmatch(name)
    assert found is not None, name
    kind, number = found[1].upper(), found[2]
    canonical = f"{kind}-{number}"
    entries = glossary()
    told = {
        f"{mechanism}={choice.text}"
        for mechanism, choices in MECHANISMS.items()
        for choice in choices
        if canonical in choice.told_by
    }
    exactly = re.compile(rf"{canonical}\b")
    speaking = [each for each in entries.values() if exactly.search(f"{each.means} {each.why}")]
    if not told and not speaking:
        raise UnknownName(f"nothing here speaks of {canonical}; `epochfuzz explain` lists all there is")
    return Issue(
        canonical,
        _LINKS[kind].format(number),
        tuple(entries[name] for name in entries if name in told),
        tuple(each for each in speaking if each.name not in told),
    )
