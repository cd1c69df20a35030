"""Generate pages of docs/reference/ from the glossary, the model and docstrings, and the README's table of releases.

To rewrite the files, run `python -m epochfuzz.harness.lab.pages` in a checkout.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from epochfuzz.harness.lab import python_api
from epochfuzz.harness.reference import checked, markdown, releases
from epochfuzz.harness.reference.explain import GlossaryEntry, breaking_example, by_generation, glossary
from epochfuzz.harness.trace.causes import Causes
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS, Choice
from epochfuzz.model.kafka.vocabulary.protocols import (
    GENERATIONS,
    NAMED,
    OTHER_SYSTEMS,
    RELEASES,
)

DIRECTORY = Path(__file__).resolve().parents[2] / "docs" / "reference"
README = DIRECTORY.parents[1] / "README.md"
_RELEASES = re.compile(r"\| Kafka \|.*?\n\n", re.DOTALL)

_NOTICE = "<!-- Written by `python -m epochfuzz.harness.lab.pages`. Edit harness/reference/glossary/ or docstrings. -->"
_PAGE = re.compile(r"(?<![/\w])docs/([a-z]+)/([a-z-]+)\.md")

# The mechanisms by theme, in reading order.
_THEMES = {
    "Truncation": (
        *("truncation", "truncate_when", "epoch_cache", "cache_truncation"),
        *("high_watermark_truncation", "follower_high_watermark", "out_of_range"),
    ),
    "Requests and responses that cross an epoch": (
        *("fencing", "late_answer", "last_fetched_epoch", "diverging_fetch", "diverging_high_watermark"),
        *("remote_leo", "remote_leo_out_of_range", "below_log_start"),
    ),
    "The ISR": (
        *("isr_expansion", "isr_change", "isr_eligibility", "effective_isr", "isr_version", "isr_answer"),
        *("isr_queue", "isr_error", "isr_duplicate", "isr_refresh"),
    ),
    "The controller": (
        *("leaderless", "registration", "follower_fence_epoch", "eligible_leaders", "last_known_leader"),
        *("stale_controller", "controller_writes", "controller_requests"),
    ),
    "Clients": (
        "high_watermark_gate",
        "pending_produce",
        "idempotence",
        "unknown_producer",
        "producer_bump",
        "producer_snapshot",
        "consumer_position",
        "consumer_epoch_end",
        "consumer_restart",
        "stable_offset",
        "late_request",
    ),
}


def readme() -> str:
    """Return the text of the README with the current table of releases."""
    head, *rows = releases.short_rows()
    table = markdown.table(head, rows)
    return _RELEASES.sub(lambda _: f"{table}\n\n", README.read_text(encoding="utf-8"), count=1)


# The first paragraph of each page.
_ABOUT_EVENTS = (
    "An event is a verb and a replica from A to E, such as `fetch B`. Every list of events is a schedule, because an"
    " event that is not enabled does nothing. *Setting* lists the settings that an event needs, and *Protocol* lists"
    " the choices of [mechanisms](mechanisms.md). `epochfuzz explain EVENT` draws an example. Protocols from `kip-841`"
    " on use KRaft, and the other protocols use ZooKeeper."
)
_ABOUT_PROTOCOLS = (
    "A protocol has one choice for each of the [mechanisms](mechanisms.md). A reference design, such as `kip-320`,"
    " implements the idea of a KIP, with all later fixes. A [release](releases.md), such as `kafka-2.6.1`, is the"
    " protocol that Kafka shipped, with its bugs. You can name any version of Kafka: `kafka-2.6.2` means `kafka-2.6.1`,"
    " which has the same rules. To replace choices, append the new choices to a name, as in `kip-320:fencing=none` or"
    " `kafka-4.1:remote_leo=forgotten,isr_answer=advanced`. `epochfuzz explain NAME` draws an example."
)
_ABOUT_MECHANISMS = (
    "A mechanism is a rule that differs between protocols. A choice is one version of the rule. You can put a choice"
    " into the name of a [protocol](protocols.md), as in `kip-320:fencing=none`. The parentheses after a choice list"
    " the reference designs and the [releases](releases.md) that have the choice: `2.8.0` is short for `kafka-2.8.0`."
    " *Breaks* names a property that breaks if you put the choice into a reference design. The number is the length of"
    " a shortest schedule that breaks the property, in events. Issues, KIPs and pages about the choice come last."
    " `epochfuzz explain fencing` gives the reasons for a rule, and draws a schedule."
)
_ABOUT_RELEASES = (
    "The table shows which properties each release of Kafka keeps, and which properties it breaks. The first rows are"
    " the [reference designs](protocols.md). `epochfuzz explain releases` prints the table, and `epochfuzz explain"
    " kafka-2.6.1` draws an example for a release."
)
_ABOUT_PROPERTIES = (
    "epochfuzz checks most properties after every event. It checks `convergence`, `leader-available`, `answered`,"
    " `fetch-answered` and `lso-advances` at the end of a schedule. The most severe property comes first. The table"
    " names the reference designs that break a property, and the length of a shortest schedule that breaks the"
    " property. `epochfuzz explain PROPERTY` draws this schedule."
)
_ABOUT_GOALS = (
    "A goal is a situation that a run should meet. If no schedule meets a required goal, the run ends with exit code 4,"
    " because the run does not test this situation. The last column lists the reference designs that require the goal"
    " with the settings in the third column. `epochfuzz explain 'log truncated'` says more about a goal, and draws"
    " an example."
)
_ABOUT_PYTHON_API = (
    "Import these names with `from epochfuzz import ...`. [Test from pytest](../how-to/pytest.md) shows examples."
    " For `Configuration`, see [Case files](case-format.md)."
)
_ABOUT_GLOSSARY = (
    "Terms of replication come first. Terms of testing and of epochfuzz follow. `epochfuzz explain"
    " WORD` also accepts synonyms, and draws an example."
)


def pages() -> dict[str, str]:
    """Return the generated pages of docs/reference/: the text of each page, by its file name."""
    return {
        "events.md": _page("Events", _ABOUT_EVENTS, _sections("event")),
        "protocols.md": _page("Protocols", _ABOUT_PROTOCOLS, _sections("generation")),
        "mechanisms.md": _page("Mechanisms", _ABOUT_MECHANISMS, _by_theme()),
        "releases.md": _page(
            "Releases", _ABOUT_RELEASES, [*_survey(), *_unproven(), *_breaking(), *_sections("release")]
        ),
        "properties.md": _page("Properties", _ABOUT_PROPERTIES, [*_verdicts(), *_sections("property")]),
        "goals.md": _page("Goals", _ABOUT_GOALS, _goals()),
        "python-api.md": _page("The Python API", _ABOUT_PYTHON_API, python_api.sections()),
        "glossary.md": _page("Glossary", _ABOUT_GLOSSARY, [*_sections("word"), *_sections("term")]),
    }


def _page(title: str, opening: str, parts: Iterable[str]) -> str:
    return _linked("\n\n".join([_NOTICE, f"# {title}", _wrapped(opening), *parts]) + "\n")


def _linked(text: str) -> str:
    """Replace the path of each page, such as docs/findings/fluss.md, by a link to the page."""
    return _PAGE.sub(r"[\2](../\1/\2.md)", text)


def _of_kind(kind: str) -> list[GlossaryEntry]:
    return [entry for entry in glossary().values() if entry.kind == kind]


def _sections(kind: str) -> Iterator[str]:
    """Yield the heading and the paragraphs of each glossary entry of a kind, such as `event`."""
    for entry in _of_kind(kind):
        yield f"## {entry.name}"
        yield from map(_wrapped, filter(None, (entry.means, entry.why)))


def _configured(settings: Configuration) -> str:
    changed = {key: value for key, value in settings.changed().items() if value != getattr(Configuration(), key)}
    words = [key if value is True else f"{key}={value}" for key, value in changed.items()]
    return f" with {', '.join(f'`{word}`' for word in words)}" if words else ""


def _by_theme() -> Iterator[str]:
    """Yield the parts of a section for each theme, a group of mechanisms. Each mechanism has a list of its choices."""
    if wrong := set(MECHANISMS) ^ set(chain(*_THEMES.values())):
        raise LookupError(f"_THEMES and the mechanisms differ in {', '.join(sorted(wrong))}")
    entries = glossary()
    for theme, mechanisms in _THEMES.items():
        yield f"## {theme}"
        for mechanism in mechanisms:
            yield f"### {mechanism}"
            yield _wrapped(re.sub("^Decides ", "This rule decides ", entries[mechanism].means))
            yield "\n".join(_choice(mechanism, choice) for choice in MECHANISMS[mechanism])


def _choice(mechanism: str, choice: Choice) -> str:
    name = f"{mechanism}={choice.text}"
    holders = [each for each, protocol in NAMED.items() if protocol.choice(mechanism) == choice]
    kafka = [each for each in holders if each not in OTHER_SYSTEMS]
    used_by = "all" if len(holders) == len(NAMED) else _span(kafka or holders).replace("kafka-", "") or "unused"
    sources = ", ".join(
        f"[{Path(each).stem}](../{each.removeprefix('docs/')})" if "/" in each else each for each in choice.told_by
    )
    text = f"* `{name}` ({used_by}): {glossary()[name].summary}"
    if (example := breaking_example(choice)) is not None:
        text += f" Breaks {example.breaks} ({len(example.events)})" + (f": {sources}." if sources else ".")
    elif sources:
        text += f" See {sources}."
    return _wrapped(text, "  ")


def _span(holders: list[str]) -> str:
    """Return protocol names as text. Consecutive releases or reference designs are written as `first to last`."""
    runs = [_runs([name for name in names if name in holders], list(names)) for names in (GENERATIONS, RELEASES)]
    others = [name for name in OTHER_SYSTEMS if name in holders]
    return ", ".join(filter(None, [*runs, *others]))


def _runs(some: list[str], every: list[str]) -> str:
    if len(some) == len(every):
        return f"every {'release' if every[0] in RELEASES else 'design'}"
    runs: list[list[str]] = []
    for name in some:
        if runs and every.index(runs[-1][-1]) == every.index(name) - 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(" to ".join(dict.fromkeys([run[0], run[-1]])) for run in runs)


def _survey() -> Iterator[str]:
    yield markdown.table(releases.HEAD, releases.rows())
    yield _wrapped(f"{releases.LEGEND} {releases.bounds()} Elections are clean, and no replica loses power.")
    head, *rows = releases.checked_rows()
    yield markdown.table(head, rows)
    yield _wrapped(checked.LEGEND)


def _unproven() -> Iterator[str]:
    """Yield the section `Unproven lengths`: how far the searches went for each cell of the survey with `≤`."""
    same: dict[tuple[str, ...], list[str]] = {}
    for name, property_, how in releases.broken():
        if property_ in releases.JUDGED and not how.is_proven:
            proven = [_excluded(each) for each in (how.searched, how.within)]
            same.setdefault((property_, str(len(how.events)), *proven, _estimated(how)), []).append(name)
    yield "## Unproven lengths"
    yield _wrapped(
        "The cells with ≤ have no proof, because the searches ran out of memory. *Any* is a lower bound: no schedule"
        " with fewer events breaks the property. *Within bounds* is a lower bound for schedules with at most"
        f" {releases.WITHIN.records} records and {releases.WITHIN.epochs} epoch changes. The cell *within bounds* is"
        " empty if the shortest known schedule needs more records or epoch changes. *States* estimates the size of the"
        " search that would decide the cell. A state takes about 22 bytes."
    )
    head = ("property", "shortest known", "any", "within bounds", "states", "protocols")
    yield markdown.table(head, [[*row, _span(names)] for row, names in sorted(same.items())])


def _estimated(how: releases.Broken) -> str:
    """Return the estimated number of states as a power of ten, such as `10^9`. A cell without an estimate is empty."""
    return f"10^{math.ceil(math.log10(max(how.estimated.values())))}" if how.estimated else ""


def _excluded(searched: Mapping[int, int]) -> str:
    complete = all(replicas in searched for replicas in releases.REPLICAS)
    return str(min(searched.values())) if complete else ""


def _breaking() -> Iterator[str]:
    """Yield the section `Causes`: the properties of the table of releases that a release breaks, with the causes."""
    by_cause: dict[tuple[str, str], list[str]] = {}
    of_table = [
        (name, each, how) for name, each, how in releases.broken() if name in RELEASES and each in releases.JUDGED
    ]
    for name, property_, how in of_table:
        why = _causes(how.causes(NAMED[name], property_))
        by_cause.setdefault((name, why), []).append(f"{property_} ({len(how.events)})")
    same: dict[tuple[str, str], list[str]] = {}
    for (name, why), broken in by_cause.items():
        same.setdefault((", ".join(broken), why), []).append(name)
    yield "## Causes"
    yield _wrapped(
        "The number in brackets is the length of the shortest known schedule. *Because of* names the"
        " [choices](mechanisms.md) that cause the violation in this schedule. If *or* joins choices, replace any of"
        " them with a sound choice to prevent the violation. If *with* joins two choices, replace both. Other choices"
        " may break the property in longer schedules. For example, every release loses a record because of"
        " `remote_leo=kept`, but in some rows a shorter schedule with another cause hides this cause."
        " `epochfuzz explain releases --json` prints the schedules."
    )
    yield markdown.table(
        ["releases", "breaks", "because of"], [[_span(names), broken, why] for (broken, why), names in same.items()]
    )


def _causes(causes: Causes) -> str:
    return ", or ".join(" with ".join(f"`{each.text}`" for each in together) for together in causes.sets)


def _verdicts() -> Iterator[str]:
    yield markdown.table(
        ["property", "may break under", "not checked under", "shortest violation"],
        map(_verdict, _of_kind("property")),
    )
    yield _wrapped(
        "*May break* means that a violation is known and expected. These choices of the reference designs cause the"
        " shortest known violations. The parentheses have the sources:"
    )
    yield "\n".join(_known_flaws())
    yield _wrapped(
        "If you combine choices yourself, as in `kip-320:fencing=none`, every violation counts as unexpected. With"
        " `unclean_leader_election` or `power_loss`, more properties may break under any reference design. The"
        " declaration of each property lists the faults that permit a violation (model/kafka/contract/properties.py)."
    )


def _known_flaws() -> Iterator[str]:
    """Yield a list item for each reference design that breaks a property: all its choices that cause a violation."""
    for name, design in GENERATIONS.items():
        found = releases.surveyed()[name].broken.items()
        causes = [each for property_, how in found for each in chain(*how.causes(design, property_).sets)]
        if causes:
            texts = dict.fromkeys(f"`{each.text}` ({', '.join(each.jira)})" for each in causes)
            yield _wrapped(f"* `{name}`: {', '.join(texts)}.", "  ")


def _verdict(entry: GlossaryEntry) -> list[str]:
    said = by_generation(entry).items()
    shortest = ""
    if (example := entry.example) is not None and example.breaks is not None:
        shortest = f"{len(example.events)} events, `{example.under}`{_configured(example.settings)}"
    return [
        entry.name,
        _span([name for name, verdict in said if verdict.startswith("may break")]),
        _span([name for name, verdict in said if verdict == "?"]),
        shortest,
    ]


def _goals() -> Iterator[str]:
    yield markdown.table(["goal", "meaning", "settings", "required under"], map(_goal, _of_kind("goal")))


def _goal(entry: GlossaryEntry) -> list[str]:
    settings = _configured(entry.example.settings).removeprefix(" with ") if entry.example else ""
    required = [name for name, role in by_generation(entry).items() if role == "required"]
    return [f"`{entry.name}`", entry.summary, settings, _span(required)]


def _wrapped(text: str, indent: str = "") -> str:
    return markdown.wrapped(_linked(text), indent)


if __name__ == "__main__":
    for name, text in pages().items():
        (DIRECTORY / name).write_text(text, encoding="utf-8")
        print(DIRECTORY / name)
    README.write_text(readme(), encoding="utf-8")
    print(README)
