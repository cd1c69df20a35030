"""Find the protocol choices, such as `fencing=none`, that make a schedule of events break a property.

A protocol makes one choice for each mechanism. A sound choice breaks no property while all other choices are sound. A
set of choices is a cause if the schedule keeps the property with sound choices in place of the whole set, but breaks it
with sound choices in place of any smaller set. Several sets of equal size may be causes. The replays interpret the
rules of the model, because a replay has few events. Compiling the rules for hundreds of protocols would take longer.
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
    """The publication status of a cause: known from a KIP or an issue, suspected by a page of this project, or new."""

    NEW = "new"
    KNOWN = "known"
    SUSPECTED = "suspected"


@dataclass(frozen=True)
class Cause:
    """A protocol choice such as `fencing=none`, or a setting, that a schedule needs in order to break a property.

    `told_by` lists its publications: KIPs, JIRA issues, and pages of this project, which end with `.md`.
    """

    name: str
    choice: str
    meaning: str
    told_by: tuple[str, ...]

    @property
    def text(self) -> str:
        """The name and the choice as text, such as `fencing=none`."""
        return f"{self.name}={self.choice}"

    @property
    def jira(self) -> list[str]:
        """The issues and KIPs that describe the cause."""
        return [each for each in self.told_by if not _is_page(each)]

    @property
    def page(self) -> str | None:
        """The page of this project that describes the cause, or None."""
        return next(filter(_is_page, self.told_by), None)

    @property
    def status(self) -> CauseStatus:
        """KNOWN if an issue or a KIP describes the cause, SUSPECTED if only a page does, else NEW."""
        return CauseStatus.KNOWN if self.jira else CauseStatus.SUSPECTED if self.page else CauseStatus.NEW

    def plain(self) -> "parts.Cause":
        """Return this cause as plain data, for JSON."""
        return {
            "mechanism": self.name,
            "choice": self.choice,
            "meaning": self.meaning,
            "jira": list(self.jira),
            "page": self.page,
        }


@dataclass(frozen=True)
class Causes:
    """The causes of a broken property: the smallest sets of choices to blame.

    `sets` is empty if neither sound choices nor a changed setting, such as no unclean elections, keep the property.
    """

    sets: tuple[tuple[Cause, ...], ...]

    @property
    def status(self) -> CauseStatus:
        """The best status of any set: KNOWN before SUSPECTED before NEW.

        A set is KNOWN if each of its causes is KNOWN, and NEW if any cause is NEW. Without sets, the status is NEW.
        """
        known = [max((each.status for each in together), key=_BY_DOUBT.index) for together in self.sets]
        return min(known, key=_BY_DOUBT.index, default=CauseStatus.NEW)

    @property
    def text(self) -> str:
        """The sets of causes as text, such as `truncation=high_watermark (KIP-101), or fencing=none (KAFKA-7395)`."""
        return ", or ".join(" with ".join(_described(each) for each in together) for together in self.sets)

    @property
    def description(self) -> str:
        """The status and the sets of causes in one line, such as `known: fencing=none (KAFKA-7395)`."""
        return f"{self.status}: {self.text}" if self.sets else str(self.status)

    @property
    def reason(self) -> str | None:
        """The known or suspected causes of the violation, in one line. None if no cause is known."""
        if self.status is CauseStatus.NEW:
            return None
        return self.text if self.status is CauseStatus.KNOWN else f"suspected, without an issue of Kafka's: {self.text}"

    @property
    def sentence(self) -> str:
        """The sets of causes and the meaning of each cause, as sentences for a report."""
        if not self.sets:
            return "No choice of the protocol explains this: with sound choices, the property still breaks."
        meanings = dict.fromkeys(f"{each.text}: {each.meaning}." for together in self.sets for each in together)
        return f"Because of {self.text}. {' '.join(meanings)}"

    def plain(self) -> "parts.Causes":
        """Return the causes as plain data for JSON. `jira` and `page` are the sources of causes with this status."""
        explaining = [each for together in self.sets for each in together if each.status is self.status]
        pages = dict.fromkeys(each.page for each in explaining if each.page)
        return {
            "status": str(self.status),
            "jira": list(dict.fromkeys(issue for each in explaining for issue in each.jira)),
            "page": next(iter(pages), None),
            "causes": [[each.plain() for each in together] for together in self.sets],
        }


_BY_DOUBT = (CauseStatus.KNOWN, CauseStatus.SUSPECTED, CauseStatus.NEW)

# Settings that may explain a violation in place of a choice.
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
_LOST_DIRECTORY = Cause(
    "lost_directory",
    "true",
    "a replica whose log directory is lost may lead or be counted with an empty log",
    ("KIP-858",),
)


def gives_way_to(property_: str, protocol: Protocol, settings: Configuration) -> list[str]:
    """Return the enabled settings, such as `unclean_leader_election`, that permit the property to break.

    The settings `power_loss` and `lost_directory` permit nothing under a protocol that must survive such failures.
    KIP-966 guarantees that a record survives if at most min.insync.replicas - 1 replicas lose their copies.
    """
    asked = [fault for fault in properties.named(property_).yields_to if getattr(settings, fault)]
    bears = (
        protocol.choice("isr_eligibility") is IsrEligibility.INCARNATION
        if property_ == "join-complete"
        else protocol.choice("eligible_leaders") is not EligibleLeaders.NONE
    )
    return [fault for fault in asked if not (fault != _UNCLEAN.name and bears)]


def reason(schedule: bytes, protocol: Protocol, settings: Configuration, property_: str) -> str | None:
    """Return the known or suspected reason why a schedule breaks a property under a protocol, or None.

    Returns None if no cause is known or suspected, and for a protocol with replaced mechanisms, such as
    `kip-320:fencing=none`.
    """
    return causes(schedule, protocol, settings, property_).reason if protocol.is_named else None


@lru_cache(maxsize=4096)
def causes(schedule: bytes, protocol: Protocol, settings: Configuration, property_: str) -> Causes:
    """Return the smallest sets of choices that a schedule needs in order to break a property under a protocol.

    If the schedule has more than 40 events, the function shrinks it first. The causes then belong to the shrunk
    schedule.
    """
    wanted = properties.named(property_).bit
    if len(schedule) > _LONG:
        schedule = delta_debugged(schedule, lambda fewer: _breaking(fewer, protocol, settings, wanted))
    return Causes(tuple(_Healing(schedule, protocol, settings, wanted).smallest()))


class _Healing:
    """Finds causes: replays a schedule with sound choices in place of the protocol's choices."""

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
        """Yield the smallest sets of causes.

        Yields nothing if the schedule breaks nothing, or if neither sound choices nor a changed setting keep the
        property.
        """
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
        for fault in (_POWER_LOSS, _LOST_DIRECTORY):
            without = self._settings.changed_to({fault.name: False})
            if not found and self._may_blame(fault) and not self._breaks(self._protocol, without):
                found.append((fault,))
        yield from found

    def _may_blame(self, fault: Cause) -> bool:
        """Return whether the setting `fault` is enabled, and permits the property to break."""
        return fault.name in gives_way_to(self._property, self._protocol, self._settings)

    def _needed(self) -> tuple[str, ...]:
        """Return a set of mechanisms whose sound choices together keep the property. The set has no unneeded mechanism.

        Call this only if sound choices for all mechanisms keep the property.
        """
        needed = list(self._sound)
        for name in self._sound:
            fewer = [each for each in needed if each != name]
            if self._heals(tuple(fewer)):
                needed = fewer
        return tuple(needed)

    def _heals(self, names: Sequence[str]) -> bool:
        """Return whether sound choices for the named mechanisms keep the property, in at least one combination."""
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
    """Return the base protocol's choices for the mechanisms that a text such as `kafka-3.6:isr_refresh=none` replaces.

    Covers only mechanisms in ALTERNATIVES. All their choices are sound alone, but may be unsound in combination.
    """
    base = parse_protocol(protocol.name.partition(":")[0])
    return {
        mechanism: (base.choice(mechanism),)
        for mechanism in applying
        if mechanism in ALTERNATIVES and protocol.choice(mechanism) is not base.choice(mechanism)
    }


def _breaking(schedule: bytes, protocol: Protocol, settings: Configuration, wanted: int) -> bytes | None:
    """Return the schedule up to the first event that breaks a property of the set `wanted`, or None if nothing breaks.

    If only a property that is checked at the end breaks, the function returns the whole schedule.
    """
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
