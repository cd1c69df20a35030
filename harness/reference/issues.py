"""Look up Kafka's improvement proposals and JIRA issues: their addresses, and the glossary's entries about them."""

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from epochfuzz.harness.reference.explain import GlossaryEntry, UnknownName, glossary
from epochfuzz.harness.text.yaml_text import parsed
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS

NUMBER = re.compile(r"\b(KIP|KAFKA)-(\d+)\b")
_WRITTEN = re.compile(r"(KIP|KAFKA)[- ]?(\d+)", re.IGNORECASE)
_JIRA = "https://issues.apache.org/jira/browse/"
_WIKI = "https://cwiki.apache.org/confluence/display/KAFKA/"
_PROPOSALS = f"{_WIKI}Kafka+Improvement+Proposals"  # for a proposal without a page in issues.yaml


@dataclass(frozen=True)
class Issue:
    """A KIP or a JIRA issue, with the glossary's entries about it.

    `tells_of` lists the choices whose flaw the issue reports. `mentioned_by` lists all other entries that name the
    issue.
    """

    name: str
    about: str
    link: str
    tells_of: tuple[GlossaryEntry, ...]
    mentioned_by: tuple[GlossaryEntry, ...]


@functools.cache
def written() -> dict[str, dict[str, str]]:
    """Return the content of issues.yaml: for each issue or KIP a text (`about`), and for a KIP also its wiki `page`."""
    every: dict[str, dict[str, str]] = parsed(Path(__file__).with_name("issues.yaml").read_text(encoding="utf-8"))
    return every


def link(name: str) -> str:
    """Return the web address of a KIP or an issue, such as `KIP-101` or `KAFKA-7395`."""
    if name.startswith("KAFKA"):
        return f"{_JIRA}{name}"
    page = written().get(name, {}).get("page")
    return f"{_WIKI}{page}" if page else _PROPOSALS


def is_issue(name: str) -> bool:
    """Return whether a name looks like `KIP-101` or `KAFKA-7395`, ignoring case."""
    return _WRITTEN.fullmatch(name) is not None


def issue(name: str) -> Issue:
    """Return a KIP or an issue by its name. Raises UnknownName if neither issues.yaml nor the glossary names it."""
    found = _WRITTEN.fullmatch(name)
    assert found is not None, name
    canonical = f"{found[1].upper()}-{found[2]}"
    entries = glossary()
    told = {
        f"{mechanism}={choice.text}"
        for mechanism, choices in MECHANISMS.items()
        for choice in choices
        if canonical in choice.told_by
    }
    exactly = re.compile(rf"{canonical}\b")
    speaking = [each for each in entries.values() if exactly.search(f"{each.means} {each.why}")]
    if not told and not speaking and canonical not in written():
        raise UnknownName(f"no entry mentions {canonical}; `epochfuzz explain` lists all entries")
    return Issue(
        canonical,
        written().get(canonical, {}).get("about", ""),
        link(canonical),
        tuple(entries[name] for name in entries if name in told),
        tuple(each for each in speaking if each.name not in told),
    )


def linked(markdown: str) -> str:
    """Return a page in Markdown with a link for each `KIP-101` or `KAFKA-7395`, and the link references at the end.

    Names in code, in fenced blocks and in links stay unchanged. The function does not change a page that it has
    returned.
    """
    page = bracketed(_DEFINITIONS.sub("", markdown))
    named = {found["number"] for found in _PIECES.finditer(page) if found["number"]}
    if not named:
        return page
    return f"{page.rstrip()}\n\n" + "".join(f"[{name}]: {link(name)}\n" for name in in_order(named))


def bracketed(text: str) -> str:
    """Return Markdown with brackets around each `KIP-101` or `KAFKA-7395`. The name becomes a reference link."""
    return _PIECES.sub(lambda found: f"[{found['bare']}]" if found["bare"] else found[0], text)


# Matches text that stays unchanged (code, comments, addresses, links), and names of issues with or without brackets.
_PIECES = re.compile(
    r"^```.*?^```|`[^`\n]+`|<!--.*?-->|https?://[^\s)>\"]+|\[(?!(?:KIP|KAFKA)-\d+\](?!\())[^\]]*\]\([^)]*\)"
    r"|\[(?P<number>(?:KIP|KAFKA)-\d+)\]|\b(?P<bare>(?:KIP|KAFKA)-\d+)\b",
    re.MULTILINE | re.DOTALL,
)
_DEFINITIONS = re.compile(r"\n*(?:^\[(?:KIP|KAFKA)-\d+\]: \S+\n)+\Z", re.MULTILINE)


def in_order(names: Iterable[str]) -> list[str]:
    """Return the names of KIPs and issues in order. KIPs come before issues, and lower numbers come first."""
    return sorted(names, key=lambda name: (not name.startswith("KIP"), int(name.rpartition("-")[2])))
