"""Reference: the glossary and the tables of the model as pages of docs/reference/, and the README's table of releases.

`python -m epochfuzz.harness.lab.pages`, in a checkout, writes them anew.
"""

import functools
import re
import textwrap
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.lab import python_api
from epochfuzz.harness.reference import checked, issues, markdown, releases
from epochfuzz.harness.reference.explain import Example, GlossaryEntry, by_generation, glossary
from epochfuzz.harness.trace.causes import causes
from epochfuzz.model.kafka.vocabulary import versions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS, Choice
from epochfuzz.model.kafka.vocabulary.protocols import (
    GENERATIONS,
    NAMED,
    OTHER_SYSTEMS,
    RELEASES,
    Protocol,
    parse_protocol,
)

DIRECTORY = Path(__file__).resolve().parents[2] / "docs" / "reference"
README = DIRECTORY.parents[1] / "README.md"
_RELEASES = re.compile(r"\| release \| stands for \|.*?\n\n", re.DOTALL)

_NOTICE = (
    "<!-- Written by `python -m epochfuzz.harness.lab.pages` from harness/reference/glossary/, the model and"
    " docstrings: change it there. -->"
)
_WIDTH = 120

# The mechanisms by what they are about, in the order in which one reads them.
_THEMES = {
    "Truncation": (
        *("truncation", "truncate_when", "epoch_cache", "cache_truncation"),
        *("high_watermark_truncation", "follower_high_watermark", "out_of_range"),
    ),
    "Requests and responses that cross an epoch": (
        *("fencing", "late_answer", "last_fetched_epoch", "diverging_fetch", "diverging_high_watermark"),
        *("remote_leo", "remote_leo_out_of_range"),
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
        "consumer_position",
        "stable_offset",
    ),
}


def readme() -> str:
    """Return the text of the README, with its table of releases as it is now."""
    head, *rows = releases.short_rows()
    table = markdown.table(head, rows)
    return _RELEASES.sub(lambda _: f"{table}\n\n", README.read_text(encoding="utf-8"), count=1)


def pages() -> dict[str, str]:
    """Return the text of each page, by the name of its file."""
    return {
        "events.md": _page(
            "Events",
            "After this page you can write and read any schedule. An event is a verb and a replica, such as `fetch B`;"
            " replicas are A to E. An event whose precondition does not hold does nothing, so that any list of events"
            " is a schedule, and so is what remains when some are taken out. `epochfuzz explain EVENT` draws the"
            " examples.",
            _sections("event"),
        ),
        "protocols.md": _page(
            "Protocols",
            "After this page you can name any protocol that epochfuzz knows. A protocol is a choice for each of the"
            " [mechanisms](mechanisms.md). Its name is that of a reference design (`kip-320`), or of a release or any"
            " version of Kafka (`kafka-2.6.1`), and other choices may follow: `kip-320:fencing=none`,"
            " `kafka-4.1:remote_leo=forgotten,isr_answer=advanced`. A reference design, also called a generation, is a"
            " KIP's idea with all its repairs; no release is exactly like one. A [release](releases.md) is what"
            " shipped, with its bugs.",
            [*_versions(), *_choices(GENERATIONS), *_sections("generation")],
        ),
        "mechanisms.md": _page(
            "Mechanisms",
            "After this page you know every choice that Kafka's replication has made and left, and what each one"
            " breaks. A mechanism is one question that a protocol answers; a choice is its answer, and stands in the"
            " name of a [protocol](protocols.md): `kip-320:fencing=none`. *Breaks* names the property that a shortest"
            " schedule breaks if that choice replaces the one of a reference design, and how many events it takes."
            " `epochfuzz explain fencing` says at length why, and shows that schedule.",
            _by_theme(),
        ),
        "releases.md": _page(
            "Releases",
            "After this page you can tell what a release of Kafka keeps and what it breaks, in how few events, and"
            " where to look at it. A generation is a design with its repairs, what the rules promise; a release is what"
            " shipped, with its bugs. Both are protocols: `kafka-2.0.0:fencing=epoch` is one as well. Releases of"
            " systems other than Kafka are protocols too and not in the table: what `fluss-0.9.1` breaks is told in"
            " [its findings](../findings/fluss.md). `epochfuzz explain releases` prints the table, `epochfuzz explain"
            " NAME` draws the examples.",
            [*_survey(), *_breaking(), *_choices(RELEASES), *_sections("release")],
        ),
        "properties.md": _page(
            "Properties",
            "After this page you know what a finding says was broken, and whether it is new. A property is judged"
            " after every event, `convergence` at the end of a schedule. They stand in the order of severity.",
            [*_verdicts(), *_sections("property")],
        ),
        "goals.md": _page(
            "Goals",
            "After this page you know what a run has shown, and why one ended with exit code 4. A run in which no"
            " log was ever truncated has nothing to say about truncation: so a run counts the schedules that met each"
            " goal, and fails where one that is asked for was met by none. What is asked for depends on the protocol"
            " and the configuration.",
            [*_asked_for(), *_sections("goal")],
        ),
        "python-api.md": _page(
            "The Python API",
            "After this page you know what each name that `from epochfuzz import ...` gives takes, returns and raises."
            " All are typed, and loaded when they are first used. [Test from pytest](../how-to/pytest.md) shows them at"
            " work.",
            python_api.sections(),
        ),
        "glossary.md": _page(
            "Glossary",
            "After this page you can read a timeline and the end of a run. First come words of Kafka's replication,"
            " each with an example that `epochfuzz explain WORD` draws; then those of testing and of epochfuzz.",
            [*_sections("word"), *_sections("term")],
        ),
    }


def _page(title: str, opening: str, parts: Iterable[str]) -> str:
    return issues.linked("\n\n".join([_NOTICE, f"# {title}", _wrapped(opening), *parts]) + "\n")


def _of_kind(kind: str) -> list[GlossaryEntry]:
    return [entry for entry in glossary().values() if entry.kind == kind]


def _sections(kind: str) -> Iterator[str]:
    for entry in _of_kind(kind):
        yield f"## {entry.name}"
        yield from map(_wrapped, filter(None, (entry.means, entry.why, _also(entry))))
        if entry.example is not None:
            yield _wrapped(_example(entry.example))


def _also(entry: GlossaryEntry) -> str:
    others = [name for name in entry.also if name.lower() != entry.name.lower()]
    return f"Also: {', '.join(others)}." if others else ""


def _example(example: Example) -> str:
    events = ", ".join(f"`{event}`" for event in example.events)
    if example.breaks is None:
        what = f"Example, under `{example.under}`{_configured(example.settings)}"
    else:
        kept = f", and nothing under `{example.beside}`" if example.beside else ""
        length = f"A shortest schedule, of {len(example.events)} events, that breaks"
        what = f"{length} `{example.breaks}` under `{example.under}`{_configured(example.settings)}{kept}"
    return f"{what}: {events}."


def _configuration_of(entry: GlossaryEntry) -> str:
    return _configured(entry.example.settings).removeprefix(" with ") if entry.example else ""


def _configured(settings: Configuration) -> str:
    changed = {key: value for key, value in settings.changed().items() if value != getattr(Configuration(), key)}
    words = [key if value is True else f"{key}={value}" for key, value in changed.items()]
    return f" with {', '.join(f'`{word}`' for word in words)}" if words else ""


def _versions() -> Iterator[str]:
    yield markdown.table(["release", "versions of Kafka"], [[f"`{name}`", versions.span(name)] for name in RELEASES])


def _by_theme() -> Iterator[str]:
    """Yield a section for each theme, and in it the choices of each mechanism, a row for one."""
    if wrong := set(MECHANISMS) ^ set(chain(*_THEMES.values())):
        raise LookupError(f"_THEMES and the mechanisms differ in {', '.join(sorted(wrong))}")
    entries = glossary()
    for theme, mechanisms in _THEMES.items():
        yield f"## {theme}"
        for mechanism in mechanisms:
            yield f"### {mechanism}"
            yield _wrapped(entries[mechanism].means)
            rows = [_choice(mechanism, choice) for choice in MECHANISMS[mechanism]]
            yield markdown.table(["choice", "what it does", "stands in", "breaks", "issue"], rows)


def _choice(mechanism: str, choice: Choice) -> list[str]:
    name = f"{mechanism}={choice.text}"
    holders = [each for each, protocol in NAMED.items() if protocol.choice(mechanism) == choice]
    example = glossary()[name].example
    does_break = example is not None and example.breaks and parse_protocol(example.under).choice(mechanism) == choice
    return [
        f"`{name}`",
        choice.meaning,
        _span(holders),
        f"{example.breaks} ({len(example.events)})" if example and does_break else "",
        ", ".join(
            f"[{Path(each).stem}](../{each.removeprefix('docs/')})" if "/" in each else each for each in choice.told_by
        ),
    ]


def _span(holders: list[str]) -> str:
    """Return the reference designs and the releases of a choice, each from the first to the last of a run."""
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


def _choices(protocols: dict[str, Protocol]) -> Iterator[str]:
    """Yield a row for each mechanism, for there are more of them than protocols."""
    rows = [[each, *(protocol.choice(each).text for protocol in protocols.values())] for each in MECHANISMS]
    yield markdown.table(["mechanism", *protocols], rows)


def _survey() -> Iterator[str]:
    yield markdown.table(releases.HEAD, releases.rows())
    yield _wrapped(f"{releases.LEGEND} The searches: {'; '.join(releases.bounds())}; clean elections, no power loss.")
    head, *rows = releases.checked_rows()
    yield markdown.table(head, rows)
    yield _wrapped(checked.LEGEND)


def _breaking() -> Iterator[str]:
    """How each protocol breaks what it breaks, why that is known, and a case of the corpus to look at."""
    lines = []
    by_schedule: dict[tuple[str, ...], list[str]] = {}
    settings = {}
    for name, property_, how in releases.broken():
        settings[name, *how.events] = how.settings
        by_schedule.setdefault((name, *how.events), []).append(property_)
    for (name, *events), broken in by_schedule.items():
        schedule = ", ".join(f"`{event}`" for event in events)
        why = causes(parse_schedule(events), NAMED[name], settings[name, *events], broken[0]).sentence
        case = _case_of(name, broken[0])
        see = f" See the case `{case.id}`." if case else ""
        properties_ = ", ".join(f"`{each}`" for each in broken)
        lines.append(_item(f"`{name}` breaks {properties_} in {len(events)} events: {schedule}. {why}{see}"))
    yield "\n".join(lines)


def _item(text: str) -> str:
    return textwrap.fill(
        issues.bracketed(text),
        _WIDTH,
        initial_indent="* ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


@functools.cache
def _corpus() -> list[Case]:
    return load_corpus([DIRECTORY.parents[1] / "corpus"])


def _case_of(protocol: str, property_: str) -> Case | None:
    """Return the case with the fewest events in which the protocol breaks the property, by faults that
    the survey had too.
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
    yield f"*May break* is known and expected:\n\n{known_flaws}"
    yield _wrapped(
        "A protocol that is put together from single mechanisms must hold them all. With `unclean_leader_election` or"
        " `power_loss` more may break in any generation: what gives way to a fault says so where it is declared"
        " (model/kafka/contract/properties.py)."
    )


def _asked_for() -> Iterator[str]:
    rows = [[entry.name, _configuration_of(entry), *by_generation(entry).values()] for entry in _of_kind("goal")]
    yield markdown.table(["goal", "configuration", *GENERATIONS], rows)


def _wrapped(text: str) -> str:
    return textwrap.fill(issues.bracketed(text), _WIDTH, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    for name, text in pages().items():
        (DIRECTORY / name).write_text(text, encoding="utf-8")
        print(DIRECTORY / name)
    README.write_text(readme(), encoding="utf-8")
    print(README)
