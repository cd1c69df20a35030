"""Generate pages of docs/reference/ from the glossary, the model and docstrings, and the README's table of releases.

To rewrite the files, run `python -m epochfuzz.harness.lab.pages` in a checkout.
"""

import functools
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.lab import python_api
from epochfuzz.harness.reference import checked, issues, markdown, releases
from epochfuzz.harness.reference.explain import Example, GlossaryEntry, breaking_example, by_generation, glossary
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

_NOTICE = (
    "<!-- Written by `python -m epochfuzz.harness.lab.pages` from harness/reference/glossary/, the model and"
    " docstrings: change it there. -->"
)
_WIDTH = 120
_FINDING = re.compile(r"docs/findings/([a-z-]+)\.md")

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
        "consumer_position",
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
    "After this page you can read and write any schedule. An event is a verb and a replica, such as `fetch B`. The"
    " replicas are A to E. An event that is not enabled does nothing. So every list of events is a schedule. If you"
    " remove events from a schedule, the rest is also a schedule. `epochfuzz explain EVENT` draws the example of an"
    " event."
)
_ABOUT_PROTOCOLS = (
    "After this page you can name any protocol that epochfuzz knows. A protocol has one choice for each of the"
    " [mechanisms](mechanisms.md). A reference design, such as `kip-320`, is the idea of a KIP with all later fixes."
    " A [release](releases.md), such as `kafka-2.6.1`, is the protocol that Kafka shipped, with its bugs. Every version"
    " of Kafka is also a name of a protocol. For example, `kafka-2.6.2` has the same rules as `kafka-2.6.1`. To replace"
    " choices, append the new choices to a name, as in `kip-320:fencing=none` or"
    " `kafka-4.1:remote_leo=forgotten,isr_answer=advanced`."
)
_ABOUT_MECHANISMS = (
    "After this page you know the rules of Kafka's replication protocol, past and present, and the property that each"
    " wrong rule breaks. A mechanism is a rule that differs between protocols, and a choice is one version of the rule."
    " The name of a [protocol](protocols.md) may contain a choice, as in `kip-320:fencing=none`. The column *breaks*"
    " names a property that breaks if a reference design uses this choice instead of its own. The number in brackets"
    " is the length of a shortest schedule that breaks the property. `epochfuzz explain fencing` gives the reasons for"
    " the mechanism `fencing`, and draws such a schedule."
)
_ABOUT_RELEASES = (
    "After this page you know which properties each release of Kafka keeps, and which properties it breaks. The first"
    " rows are the [reference designs](protocols.md). No release is exactly like a reference design. The table has only"
    " releases of Kafka. For `fluss-0.9.1`, read [the findings about Fluss](../findings/fluss.md). `epochfuzz"
    " explain releases` prints the table, and `epochfuzz explain NAME` draws the example of a release."
)
_ABOUT_PROPERTIES = (
    "After this page you can tell which guarantee a finding breaks, and whether the violation was expected. epochfuzz"
    " checks most properties after every event. It checks `convergence`, `leader-available`, `answered`,"
    " `fetch-answered` and `lso-advances` at the end of a schedule. The most severe property comes first."
)
_ABOUT_GOALS = (
    "After this page you can tell which situations a run has tested, and why a run ended with exit code 4. A run that"
    " never truncates a log does not test truncation. So a run counts the schedules that meet each goal. If no schedule"
    " meets a required goal, the run ends with exit code 4. The protocol and the configuration decide which goals are"
    " required. `epochfuzz explain 'log truncated'` draws an example of a goal."
)
_ABOUT_PYTHON_API = (
    "After this page you can use every name of `from epochfuzz import ...`, with its parameters, results and"
    " exceptions. All names are typed. Python loads each name at its first use. [Test from pytest](../how-to/pytest.md)"
    " shows examples."
)
_ABOUT_GLOSSARY = (
    "After this page you can read a timeline and the output of a run. The terms of Kafka's replication come first, each"
    " with an example that `epochfuzz explain WORD` draws. The terms of testing and of epochfuzz follow."
)


def pages() -> dict[str, str]:
    """Return the generated pages of docs/reference/: the text of each page, by its file name."""
    return {
        "events.md": _page("Events", _ABOUT_EVENTS, _sections("event")),
        "protocols.md": _page("Protocols", _ABOUT_PROTOCOLS, _sections("generation")),
        "mechanisms.md": _page("Mechanisms", _ABOUT_MECHANISMS, _by_theme()),
        "releases.md": _page(
            "Releases", _ABOUT_RELEASES, [*_survey(), *_breaking(), *_sections("release", _example_in_short)]
        ),
        "properties.md": _page("Properties", _ABOUT_PROPERTIES, [*_verdicts(), *_sections("property")]),
        "goals.md": _page("Goals", _ABOUT_GOALS, [*_asked_for(), *_sections("goal", None)]),
        "python-api.md": _page("The Python API", _ABOUT_PYTHON_API, python_api.sections()),
        "glossary.md": _page("Glossary", _ABOUT_GLOSSARY, [*_sections("word"), *_sections("term")]),
    }


def _page(title: str, opening: str, parts: Iterable[str]) -> str:
    text = "\n\n".join([_NOTICE, f"# {title}", _wrapped(opening), *parts]) + "\n"
    return issues.linked(_FINDING.sub(r"[\1](../findings/\1.md)", text))


def _of_kind(kind: str) -> list[GlossaryEntry]:
    return [entry for entry in glossary().values() if entry.kind == kind]


def _also(entry: GlossaryEntry) -> str:
    others = [name for name in entry.also if name.lower() != entry.name.lower()]
    return f"Also: {', '.join(others)}." if others else ""


def _example(_: GlossaryEntry, example: Example) -> str:
    events = ", ".join(f"`{event}`" for event in example.events)
    if example.breaks is None:
        return f"Example, under `{example.under}`{_configured(example.settings)}: {events}."
    kept = f", and breaks nothing under `{example.beside}`" if example.beside else ""
    length = f"A shortest schedule, of {len(example.events)} events, that breaks"
    return f"{length} `{example.breaks}` under `{example.under}`{_configured(example.settings)}{kept}: {events}."


def _example_in_short(entry: GlossaryEntry, example: Example) -> str:
    """Return a sentence with the command that draws an example, its number of events, and the property it breaks."""
    draws = f"`epochfuzz explain {entry.name}` draws the example: {len(example.events)} events"
    if example.breaks is None:
        return f"{draws}{_configured(example.settings)}."
    kept = f", and nothing under `{example.beside}`" if example.beside else ""
    return f"{draws} that break `{example.breaks}` under `{example.under}`{_configured(example.settings)}{kept}."


def _sections(kind: str, example_of: Callable[[GlossaryEntry, Example], str] | None = _example) -> Iterator[str]:
    """Yield the heading and the paragraphs of each glossary entry of a kind, such as `event`.

    `example_of` returns the paragraph about an entry's example. With None, the sections leave out their examples.
    """
    for entry in _of_kind(kind):
        yield f"## {entry.name}"
        yield from map(_wrapped, filter(None, (entry.means, entry.why, _also(entry))))
        if entry.example is not None and example_of is not None:
            yield _wrapped(example_of(entry, entry.example))


def _configuration_of(entry: GlossaryEntry) -> str:
    return _configured(entry.example.settings).removeprefix(" with ") if entry.example else ""


def _configured(settings: Configuration) -> str:
    changed = {key: value for key, value in settings.changed().items() if value != getattr(Configuration(), key)}
    words = [key if value is True else f"{key}={value}" for key, value in changed.items()]
    return f" with {', '.join(f'`{word}`' for word in words)}" if words else ""


def _by_theme() -> Iterator[str]:
    """Yield the parts of a section for each theme, a group of mechanisms.

    A section has a table for each mechanism, with a row for each choice.
    """
    if wrong := set(MECHANISMS) ^ set(chain(*_THEMES.values())):
        raise LookupError(f"_THEMES and the mechanisms differ in {', '.join(sorted(wrong))}")
    entries = glossary()
    for theme, mechanisms in _THEMES.items():
        yield f"## {theme}"
        for mechanism in mechanisms:
            yield f"### {mechanism}"
            yield _wrapped(entries[mechanism].means)
            rows = [_choice(mechanism, choice) for choice in MECHANISMS[mechanism]]
            yield markdown.table(["choice", "what it does", "used by", "breaks", "reported by"], rows)


def _choice(mechanism: str, choice: Choice) -> list[str]:
    name = f"{mechanism}={choice.text}"
    holders = [each for each, protocol in NAMED.items() if protocol.choice(mechanism) == choice]
    example = breaking_example(choice)
    return [
        f"`{name}`",
        issues.bracketed(glossary()[name].summary),
        _span(holders),
        "" if example is None else f"{example.breaks} ({len(example.events)})",
        ", ".join(
            f"[{Path(each).stem}](../{each.removeprefix('docs/')})" if "/" in each else each for each in choice.told_by
        ),
    ]


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
    yield _wrapped(
        f"{releases.LEGEND} The searches cover {'; '.join(releases.bounds())}. Elections are clean, and no replica"
        " loses power."
    )
    head, *rows = releases.checked_rows()
    yield markdown.table(head, rows)
    yield _wrapped(checked.LEGEND)


def _breaking() -> Iterator[str]:
    """Yield the section `Causes`: a table of protocols and the properties they break, with causes and cases."""
    by_cause: dict[tuple[str, str], list[str]] = {}
    cases: dict[tuple[str, str], list[str]] = {}
    for name, property_, how in releases.broken():
        row = name, how.causes(NAMED[name], property_).text
        by_cause.setdefault(row, []).append(f"{property_} ({len(how.events)})")
        if case := _case_of(name, property_):
            cases.setdefault(row, []).append(f"`{case.id}`")
    same: dict[tuple[str, str], list[str]] = {}
    for (name, why), broken in by_cause.items():
        same.setdefault((", ".join(broken), why), []).append(name)
    rows = [
        [
            _span(names),
            broken,
            issues.bracketed(why),
            ", ".join(dict.fromkeys(case for name in names for case in cases.get((name, why), []))),
        ]
        for (broken, why), names in same.items()
    ]
    yield "## Causes"
    yield _wrapped(
        "The number in brackets is the length of the shortest known schedule. `epochfuzz explain releases --json`"
        " prints these schedules, and `epochfuzz replay CASE --trace` prints the steps of a case. If a choice"
        " follows *with*, the property breaks only with both choices. *Or* separates alternatives."
        " [Mechanisms](mechanisms.md) describes the choices."
    )
    yield markdown.table(["protocols", "breaks", "because of", "cases"], rows)


@functools.cache
def _corpus() -> list[Case]:
    return load_corpus([DIRECTORY.parents[1] / "corpus"])


def _case_of(protocol: str, property_: str) -> Case | None:
    """Return the shortest case of the corpus that breaks the property under the protocol, or None.

    Cases with unclean elections or a power loss do not count, because the survey excludes these faults.
    """
    cases = [
        case
        for case in _corpus()
        if protocol in case.expect
        and property_ in case.expect[protocol].broken
        and not (case.settings.unclean_leader_election or case.settings.power_loss)
    ]
    return min(cases, key=lambda case: len(case.events), default=None)


def _verdicts() -> Iterator[str]:
    def cell(said: str) -> str:
        return said.partition(":")[0]

    rows = [[entry.name, *map(cell, by_generation(entry).values())] for entry in _of_kind("property")]
    yield markdown.table(["property", *GENERATIONS], rows)
    reasons = {
        generation: said.partition(": ")[2]
        for entry in _of_kind("property")
        for generation, said in by_generation(entry).items()
        if ": " in said
    }
    known_flaws = "\n".join(f"* `{generation}`: {reason}." for generation, reason in reasons.items())
    yield _wrapped(
        "*May break* means that a violation is known and expected. *?* means that the survey did not check the"
        " property. These choices of the reference designs cause the known violations:"
    )
    yield known_flaws
    yield _wrapped(
        "If you combine choices yourself, as in `kip-320:fencing=none`, every violation counts as unexpected. With"
        " `unclean_leader_election` or `power_loss`, other properties may break under any reference design. The"
        " declaration of each property lists the faults that permit a violation (model/kafka/contract/properties.py)."
    )


def _asked_for() -> Iterator[str]:
    rows = [
        [
            entry.name,
            _configuration_of(entry),
            *("required" if each == "required" else "" for each in by_generation(entry).values()),
        ]
        for entry in _of_kind("goal")
    ]
    yield markdown.table(["goal", "configuration", *GENERATIONS], rows)


def _wrapped(text: str) -> str:
    return textwrap.fill(issues.bracketed(text), _WIDTH, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    for name, text in pages().items():
        (DIRECTORY / name).write_text(text, encoding="utf-8")
        print(DIRECTORY / name)
    README.write_text(readme(), encoding="utf-8")
    print(README)
