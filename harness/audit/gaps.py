"""The gaps of an audit of logs, and its notes.

A gap is a reason why the audit may have missed a loss, with a remedy if there is one. A note is a fact that cannot hide
a loss, such as a file that the audit ignores.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from epochfuzz.harness.audit.attribution import Attribution
from epochfuzz.harness.audit.lines.facts import LogFacts

if TYPE_CHECKING:
    from epochfuzz.harness.audit.audit import AuditRequest, AuditVerdicts

_NAMED = 3  # number of things that a sentence names, if there are many


def gaps_of(
    request: "AuditRequest", files: Sequence[LogFacts], whose: Attribution, verdicts: "AuditVerdicts"
) -> list[str]:
    """Return the reasons why an audit of logs may have missed a loss."""
    left_out = (f"{source.path} {source.problem}" for source in request.sources if source.problem is not None)
    return [*left_out, *_of_files(files, whose), *_of_brokers(files, whose), *_of_partitions(files, verdicts)]


def _of_files(files: Sequence[LogFacts], whose: Attribution) -> Iterator[str]:
    for facts in sorted(files, key=lambda facts: facts.file):
        if facts.problem is not None:
            before = f"; the {counted(facts.lines, 'line')} before that were read" if facts.lines else ""
            yield f"{facts.file} {facts.problem}{before}"
        if facts.unread:
            rest = "" if facts.is_whole or not facts.events else f"; the {facts.events:,} others were left out"
            yield (
                f"{facts.file}, line {facts.unread_line:,}: {_lines(facts.unread)} a broker's words about a partition,"
                f" and audit could not read them, because they are cut, damaged or unknown{rest}. Give another copy of"
                " the file"
            )
        if facts.undecoded:
            yield (
                f"{facts.file}, line {facts.undecoded_line:,}: {_lines(facts.undecoded)} bytes that are not UTF-8, so"
                " audit did not read the text. Give another copy of the file"
            )
        if not facts.is_trusted and facts.doubtful:
            yield (
                f"{facts.file}: {counted(facts.doubtful, 'line')} may have been cut within a number, so audit left"
                f" {'it' if facts.doubtful == 1 else 'them'} out. Give another copy of the file"
            )
        unnamed = _unnamed(facts, whose)
        if unnamed:
            yield (
                f"{facts.file}: {counted(unnamed, 'line')} of partitions {'does' if unnamed == 1 else 'do'} not name"
                f" the broker, so audit left {'it' if unnamed == 1 else 'them'} out. Set --broker to a pattern that"
                " finds the broker's number in the path or before the line"
            )
        if not facts.is_in_order:
            yield (
                f"{facts.file}: the lines are not in order, because their times go back {facts.backs:,} times, first"
                f" at line {facts.back:,}; audit left the file out. Give the file as the broker wrote it"
            )
        elif facts.back is not None and not facts.is_newest_first:
            yield (
                f"{facts.file}, line {facts.back:,}: the broker's clock went back here, so audit ignored the order of"
                " this broker's files"
            )


def _unnamed(facts: LogFacts, whose: Attribution) -> int:
    """Return the number of events in a file that have no known broker."""
    unnamed = facts.unnamed - sum(facts.unnamed_of.values())
    open_ = sum(
        number
        for origin, number in facts.unnamed_of.items()
        if whose.origins.get((facts.file, origin), whose.brokers.get(facts.file)) is None
    )
    return open_ + (unnamed if facts.file not in whose.brokers else 0)


def _of_brokers(files: Sequence[LogFacts], whose: Attribution) -> Iterator[str]:
    if whose.undated:
        yield (
            f"the lines of {_brokers(whose.undated)} have no dates and are in several files, so audit ignored the order"
            " of these files. Give the logs with dates"
        )
    if any(facts.is_broker for facts in files) and not any(facts.events for facts in files):
        yield "no line is about a partition. Add server.log and state-change.log of the time in question"
    elif not any(facts.high_watermarks for facts in files):
        yield (
            "no line shows a high watermark, so these lines cannot show a loss of committed records. Brokers before 2.2"
            " never log it; add the data directories"
        )


def _of_partitions(files: Sequence[LogFacts], verdicts: "AuditVerdicts") -> Iterator[str]:
    with_lines = {broker for facts in files for broker in facts.brokers}
    for broker, partitions in sorted(verdicts.silent.items()):
        about = "" if broker not in with_lines else " about them"
        yield (
            f"broker {broker} has a replica of {counted(len(partitions), 'partition')} ({_named(partitions)}), but the"
            f" logs have no line of this broker{about}. Add its logs of that time"
        )
    if verdicts.unseen:
        epochs = sum(verdicts.unseen.values())
        yield (
            f"no line names the leader of {counted(epochs, 'leader epoch')} of {_named(sorted(verdicts.unseen))}. Add"
            " older files, or the logs of the other brokers"
        )
    if verdicts.leaderless:
        yield (
            f"{_named(sorted(verdicts.leaderless))}: a log became shorter, and no line names a leader, so audit cannot"
            " tell whether committed records are gone. Add the brokers' lines of level INFO, from"
            " kafka.cluster.Partition and state.change.logger, or older files"
        )
    if verdicts.mixed:
        yield (
            f"{_named(sorted(verdicts.mixed))}: the topic was deleted and created again, or the lines come from two"
            " clusters, and audit cannot separate them, so it checked the lines of each broker alone. Add the files"
            " with topic ids, or audit the logs of each cluster alone"
        )
    for name, reason in verdicts.undecided:
        yield f"{name}: {reason}"


def notes_of(request: "AuditRequest", files: Sequence[LogFacts]) -> list[str]:
    """Return notes about lines that audit ignored on purpose, and about a --layout that matches no line."""
    notes = []
    if request.frames and not any(facts.framed for facts in files):
        notes.append(
            f"--layout ({', '.join(map(repr, request.layouts))}) matches no line about a partition, so audit searched"
            " the whole lines for Kafka's words; compare the pattern with a line"
        )
    own = sum(facts.own for facts in files)
    if own:
        notes.append(
            f"{counted(own, 'line')} of __cluster_metadata {'was' if own == 1 else 'were'} left out on purpose, because"
            " KRaft replicates this log by other rules"
        )
    wrong = sum(facts.wrong_epochs for facts in files)
    if wrong:
        notes.append(
            f"{counted(wrong, 'line')} of followers {'prints' if wrong == 1 else 'print'} the new leader epoch as the"
            " previous one (KAFKA-19776), which audit ignored"
        )
    return notes


def counted(number: int, what: str) -> str:
    """Return a number with its noun, as in `1 line` and `2,000 lines`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _lines(number: int) -> str:
    """Return the start of a sentence about one or several lines, such as `this line and 3 more have`."""
    return "the line has" if number == 1 else f"this line and {number - 1:,} more have"


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _brokers(ids: Iterable[int]) -> str:
    named = sorted(ids)
    return f"broker {named[0]}" if len(named) == 1 else f"brokers {', '.join(map(str, named))}"
