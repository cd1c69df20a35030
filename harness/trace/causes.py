"""Find the choices of a protocol that make a schedule break a property, by replaying the schedule with other choices.

A set of choices is a cause if two conditions hold. With a sound choice in place of each choice in the set, the schedule
no longer breaks the property. And no smaller set has this effect. Several sets may have the smallest size, and all of
them are causes. The replays interpret the rules, because a replay has few events, and compiling the rules for hundreds
of protocols would take longer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import combinations, product
from types import SimpleNamespace
from typing import TYPE_CHECKING

from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.in_force import applies
from epochfuzz.model.kafka.vocabulary.mechanisms import (
    ALTERNATIVES,
    MECHANISMS,
    Choice,
    EligibleLeaders,
    IsrEligibility,
    sound_choices,
)
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol
from epochfuzz.model.kafka.vocabulary.state import initial
from epochfuzz.strategies.delta_debugging import delta_debugged

if TYPE_CHECKING:
    from epochfuzz.harness.documents import parts

_LONG = 40  # events
_MOST_TOGETHER = 3  # the largest set of choices to try, before the search removes unneeded choices one by one


class CauseStatus(StrEnum):
    """The status of a finding: new, known from an issue or a KIP, or suspected on a page of this project."""

    NEW = "new"
    KNOWN = "known"
    SUSPECTED = "suspected"


@dataclass(frozen=True)
class Cause:
    """A choice of a mechanism, or a setting, without which a schedule no longer breaks the property."""

    name: str
    choice: str
    meaning: str
    told_by: tuple[str, ...]

    @property
    def text(self) -> str:
        """The cause in the form of a protocol text, such as `fencing=none`."""
        return f"{self.name}={self.choice}"

    @property
    def jira(self) -> list[str]:
        """The issues and KIPs that describe the cause."""
        return [each for each in self.told_by if not _is_page(each)]

    @property
    def page(self) -> str | None:
        """The page of this project that suspects the cause, or None if there is no such page."""
        return next(filter(_is_page, self.told_by), None)

    @property
    def status(self) -> CauseStatus:
        """The status of the cause: an issue takes precedence over a page."""
        return CauseStatus.KNOWN if self.jira else CauseStatus.SUSPECTED if self.page else CauseStatus.NEW

    def plain(self) -> "parts.Cause":
        """Return this cause as plain data."""
        return {
            "mechanism": self.name,
            "choice": self.choice,
            "meaning": self.meaning,
            "jira": list(self.jira),
            "page": self.page,
        }


@dataclass(frozen=True)
class Causes:
    """The smallest sets of causes, in the order of the mechanisms. Empty if no sound choices keep the property."""

    sets: tuple[tuple[Cause, ...], ...]

    @property
    def status(self) -> CauseStatus:
        """The status of the best-known set. That set explains the finding, whatever the other sets are."""
        known = [max((each.status for each in together), key=_BY_DOUBT.index) for together in self.sets]
        return min(known, key=_BY_DOUBT.index, default=CauseStatus.NEW)

    @property
    def text(self) -> str:
        """The sets in one line, such as `truncation=high_watermark (KIP-101), or fencing=none (KAFKA-7395)`."""
        return ", or ".join(" with ".join(_described(each) for each in together) for together in self.sets)

    @property
    def description(self) -> str:
        """The status of a finding and its causes, in one line."""
        return f"{self.status}: {self.text}" if self.sets else str(self.status)

    @property
    def reason(self) -> str | None:
        """The reason to expect the finding, or None if the finding is new."""
        if self.status is CauseStatus.NEW:
            return None
        return self.text if self.status is CauseStatus.KNOWN else f"suspected, without an issue of Kafka's: {self.text}"

    @property
    def sentence(self) -> str:
        """The causes of the finding, and the meaning of each."""
        if not self.sets:
            return "No choice of the protocol explains this: with sound choices, the property still breaks."
        meanings = dict.fromkeys(f"{each.text}: {each.meaning}." for together in self.sets for each in together)
        return f"Because of {self.text}. {' '.join(meanings)}"

    def plain(self) -> "parts.Causes":
        """Return the causes as plain data: their status, the issues and the page that explain it, and the sets."""
        explaining = [each for together in self.sets for each in together if each.status is self.status]
        pages = dict.fromkeys(each.page for each in explaining if each.page)
        return {
            "status": str(self.status),
            "jira": list(dict.fromkeys(issue for each in explaining for issue in each.jira)),
            "page": next(iter(pages), None),
            "causes": [[each.plain() for each in together] for together in self.sets],
        }


_BY_DOUBT = (CauseStatus.KNOWN, CauseStatus.SUSPECTED, CauseStatus.NEW)

# Settings that an operator enabled, or that the guarantees do not cover.
_UNCLEAN = Cause(
    "unclean_leader_election",
    "true",
    "unclean.leader.election.enable trades committed records for availability",
    ("KIP-106",),
)
_POWER_LOSS = Cause(
    "power_loss",
    "true",
    "an unflushed tail is gone with the power, and its replica may lead or be counted without it",
    ("KIP-966",),
)


def gives_way_to(property_: str, protocol: Protocol, settings: Configuration) -> list[str]:
    """Return the enabled settings that permit the property to break under a protocol.

    KIP-966 guarantees that records survive up to min.insync.replicas - 1 power failures that lose records. So a power
    failure is no excuse under a protocol with that KIP.
    """
    asked = [fault for fault in properties.named(property_).yields_to if getattr(settings, fault)]
    bears = (
        protocol.choice("isr_eligibility") is IsrEligibility.INCARNATION
        if property_ == "join-complete"
        else protocol.choice("eligible_leaders") is not EligibleLeaders.NONE
    )
    return [fault for fault in asked if not (fault == _POWER_LOSS.name and bears)]


def reason(schedule: bytes, protocol: Protocol, settings: Configuration, property_: str) -> str | None:
    """Return the reason to expect that a schedule breaks a property under a protocol, or None if there is no reason.

    Returns None for a protocol that is assembled from single mechanisms.
    """
    return causes(schedule, protocol, settings, property_).reason if protocol.is_named else None


@lru_cache(maxsize=4096)
def causes(schedule: bytes, protocol: Protocol, settings: Configuration, property_: str) -> Causes:
    """Return the causes of a property that a schedule breaks under a protocol.

    A long schedule, such as a randomly drawn one, is shrunk first. The function then returns the causes for the shrunk
    schedule.
    """
    wanted = properties.named(property_).bit
    if len(schedule) > _LONG:
        schedule = delta_debugged(schedule, lambda fewer: _breaking(fewer, protocol, settings, wanted))
    return Causes(tuple(_Healing(schedule, protocol, settings, wanted).smallest()))


class _Healing:
    """Replay a schedule with other choices."""

    def __init__(self, schedule: bytes, protocol: Protocol, settings: Configuration, wanted: int) -> None:
        self._schedule, self._protocol, self._settings, self._wanted = schedule, protocol, settings, wanted
        (self._property,) = properties.names(wanted)
        constants = SimpleNamespace(**protocol.numbers(), **settings.numbers())
        applying = [mechanism for mechanism in MECHANISMS if applies(mechanism, constants)]
        self._sound = {
            mechanism: sound_choices(mechanism)
            for mechanism in applying
            if mechanism not in ALTERNATIVES and protocol.choice(mechanism) not in sound_choices(mechanism)
        }
        swapped = _as_in_base(protocol, applying)
        if not self._heals(tuple(self._sound)):  # two choices that are sound alone may not be sound together
            self._sound |= {
                mechanism: tuple(each for each in MECHANISMS[mechanism] if each is not protocol.choice(mechanism))
                for mechanism in applying
                if mechanism in ALTERNATIVES and protocol.choice(mechanism).told_by
            }
        self._sound = swapped | self._sound

    def smallest(self) -> Iterator[tuple[Cause, ...]]:
        """Yield the smallest sets of causes."""
        if not self._breaks(self._protocol, self._settings):
            return
        found: list[tuple[Cause, ...]] = []
        safe = replace(self._settings, unclean_leader_election=False)
        if self._may_blame(_UNCLEAN) and not self._breaks(self._protocol, safe):
            found.append((_UNCLEAN,))
        for size in range(1, _MOST_TOGETHER + 1):
            found += [self._set(names) for names in combinations(self._sound, size) if self._heals(names)]
            if found:
                break
        if not found and self._heals(tuple(self._sound)):
            found.append(self._set(self._needed()))
        powered = replace(self._settings, power_loss=False)
        if not found and self._may_blame(_POWER_LOSS) and not self._breaks(self._protocol, powered):
            found.append((_POWER_LOSS,))
        yield from found

    def _may_blame(self, fault: Cause) -> bool:
        """Return whether an enabled setting is a sufficient cause."""
        return fault.name in gives_way_to(self._property, self._protocol, self._settings)

    def _needed(self) -> tuple[str, ...]:
        """Return a set of mechanisms whose sound choices keep the property, if the sound choices of all keep it.

        The function starts with all mechanisms, and removes each one that the set does not need.
        """
        needed = list(self._sound)
        for name in self._sound:
            fewer = [each for each in needed if each != name]
            if self._heals(tuple(fewer)):
                needed = fewer
        return tuple(needed)

    def _heals(self, names: Sequence[str]) -> bool:
        """Return whether sound choices for some mechanisms keep the property."""
        return any(
            not self._breaks(self._protocol.changed(self._protocol.name, *choices), self._settings)
            for choices in product(*(self._sound[name] for name in names))
        )

    def _breaks(self, protocol: Protocol, settings: Configuration) -> bool:
        return _breaking(self._schedule, protocol, settings, self._wanted) is not None

    def _set(self, names: Sequence[str]) -> tuple[Cause, ...]:
        choices = ((name, self._protocol.choice(name)) for name in names)
        return tuple(Cause(name, choice.text, choice.meaning, choice.told_by) for name, choice in choices)


def _as_in_base(protocol: Protocol, applying: Sequence[str]) -> dict[str, tuple[Choice, ...]]:
    """Return the choices of the base protocol of a text such as `kafka-3.6:isr_refresh=none`.

    Returns only the mechanisms in ALTERNATIVES that the text replaces. Each of their choices is sound by itself, but
    may be unsound together with other choices.
    """
    base = parse_protocol(protocol.name.partition(":")[0])
    return {
        mechanism: (base.choice(mechanism),)
        for mechanism in applying
        if mechanism in ALTERNATIVES and protocol.choice(mechanism) is not base.choice(mechanism)
    }


def _breaking(schedule: bytes, protocol: Protocol, settings: Configuration, wanted: int) -> bytes | None:
    """Return the schedule up to the event that breaks a wanted property, or None if no event breaks one."""
    p = initial(protocol, settings)
    now = wanted & ~properties.AT_END
    for number, event in enumerate(schedule, start=1):
        step(p, event)
        if now and properties.broken_now(p) & now:
            return schedule[:number]
    return schedule if wanted & properties.AT_END and properties.broken_at_end(p) & wanted else None


def _described(cause: Cause) -> str:
    return f"{cause.text} ({', '.join(cause.told_by)})" if cause.told_by else cause.text


def _is_page(told_by: str) -> bool:
    return told_by.endswith(".md")
