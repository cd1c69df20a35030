"""Adapters: Python objects with the interface `Subject`, and commands that implement the conformance protocol."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.discrepancy import DiscrepancyKind, SubjectFailed, SubjectUnable
from epochfuzz.harness.conform.protocol.process import START_PATIENCE, LineProcess
from epochfuzz.harness.conform.protocol.wire import Config, MalformedReply, Observation
from epochfuzz.model.kafka.vocabulary.events import VERBS
from epochfuzz.strategies.tracebacks import hides_frames

__tracebackhide__ = hides_frames

PATIENCE = 5.0
_SETTLING = 0.001

_Reply = TypeVar("_Reply")


class Subject(Protocol):
    """An adapter for an implementation of one partition, with all its replicas and their controller."""

    def reset(self, config: Config, protocol: str) -> Iterable[str] | None:
        """Empty the logs, start all replicas, and let A lead epoch 0. Return the supported verbs, or None for all."""

    def apply(self, event: str) -> bool:
        """Apply an event such as `fetch B`. Return False if the event is not enabled, and change nothing then."""

    def observe(self) -> Mapping[str, Any]:
        """Return an Observation of the current state. epochfuzz does not compare fields that are left out."""


class Answering(Protocol):
    """An adapter whose replies have been checked: a CommandSubject or a CheckedSubject."""

    def reset(self, config: Config, protocol: str) -> list[str]:
        """Start over, and return the supported verbs."""

    def apply(self, event: str) -> bool:
        """Apply an event, and return whether it was enabled."""

    def observe(self) -> Observation:
        """Return an observation of the state after the last event."""

    def finish(self) -> None:
        """End the schedule."""


class CommandSubject:
    """An adapter that is a command, as in `CommandSubject(["./my-adapter"])`.

    A CommandSubject has the methods of Subject. The process starts on first use, and again after a failure. `patience`,
    5 by default, is the time limit for a reply in seconds.
    """

    def __init__(self, command: Sequence[str], patience: float = PATIENCE) -> None:
        self.command = command
        self.patience = patience
        self._process: LineProcess | None = None
        self._observation = Observation()

    def __enter__(self) -> "CommandSubject":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        """True if the process runs and has handled a request. If False, the next reset starts a fresh process."""
        return self._process is not None

    def reset(self, config: Config, protocol: str) -> list[str]:
        """Reset the adapter, and return its verbs. Raises SubjectFailed, SubjectUnable and CommandError."""
        patience = self.patience
        if self._process is None:
            self._process = LineProcess(self.command)
            patience = max(patience, START_PATIENCE)
        reply = self._ask(wire.reset_request(config, protocol), patience, wire.parse_reset_reply)
        if not reply["ok"]:
            raise SubjectUnable(reply.get("error", "it gave no reason"))
        self._observation = reply.get("observation", Observation())
        return list(reply.get("events", VERBS))

    def apply(self, event: str) -> bool:
        """Apply an event, and return whether it was enabled. Raises SubjectFailed."""
        reply = self._ask(wire.event_request(event), self.patience, wire.parse_event_reply)
        self._observation = reply.get("observation", Observation())
        return bool(reply["applied"])

    def apply_each(self, events: Sequence[str]) -> Iterator[bool]:
        """Apply events without waiting for earlier replies. Yields whether each was enabled. Raises SubjectFailed.

        The caller must exhaust the iterator. An unread reply would be taken for the reply to the next request.
        """
        assert self._process is not None, "reset it first"
        with self._killed_on_failure(self._process):
            for reply in self._process.ask_each([wire.event_request(event) for event in events], self.patience):
                parsed = self._parsed(self._process, reply, wire.parse_event_reply)
                self._observation = parsed.get("observation", Observation())
                yield bool(parsed["applied"])
            self._process.expect_silence()

    def observe(self) -> Observation:
        """Return the observation of the last reply. It is empty if that reply had none."""
        return self._observation

    def finish(self) -> None:
        """End the schedule, and check that the adapter prints nothing more. Raises SubjectFailed."""
        if self._process is not None:
            with self._killed_on_failure(self._process):
                self._process.expect_silence(_SETTLING)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _ask(self, line: bytes, patience: float, parse: Callable[[bytes], _Reply]) -> _Reply:
        assert self._process is not None, "reset it first"
        with self._killed_on_failure(self._process):
            parsed = self._parsed(self._process, self._process.ask(line, patience), parse)
            self._process.expect_silence()
            return parsed

    @staticmethod
    def _parsed(process: LineProcess, reply: bytes, parse: Callable[[bytes], _Reply]) -> _Reply:
        try:
            return parse(reply)
        except MalformedReply as error:
            message = f"a reply that does not follow the protocol: {error}"
            raise SubjectFailed(DiscrepancyKind.GARBAGE, message, process.output()) from None

    @contextmanager
    def _killed_on_failure(self, process: LineProcess) -> Iterator[None]:
        """Kill the process if the `with` block raises SubjectFailed.

        Otherwise later output of the process could be taken for replies to later requests.
        """
        try:
            yield
        except SubjectFailed:
            process.kill()
            self._process = None
            raise


class CheckedSubject:
    """Wraps an adapter that is a Python object, and checks the types of its results. Raises SubjectFailed."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def reset(self, config: Config, protocol: str) -> list[str]:
        """Reset the object, and return the verbs that it supports: all verbs if its own `reset` returns None."""
        verbs = self._subject.reset(config, protocol)
        named = list(VERBS) if verbs is None else list(verbs)
        try:
            wire.check_verbs(named)
        except MalformedReply as error:
            raise SubjectFailed(
                DiscrepancyKind.GARBAGE, f"reset() returned a value that is not a list of events: {error}"
            ) from None
        return named

    def apply(self, event: str) -> bool:
        """Apply an event, and return whether it was enabled."""
        applied = self._subject.apply(event)
        if not isinstance(applied, bool):
            raise SubjectFailed(
                DiscrepancyKind.GARBAGE, f"apply() returned {applied!r}, which is neither True nor False"
            )
        return applied

    def observe(self) -> Observation:
        """Return an observation of the current state, converted to the types of a parsed observation."""
        observation = self._subject.observe()
        try:
            return wire.check_observation(observation)
        except MalformedReply as error:
            raise SubjectFailed(
                DiscrepancyKind.GARBAGE, f"observe() returned a value that is not an observation: {error}"
            ) from None

    def finish(self) -> None:
        """Do nothing, because a Python object cannot send a reply without a request."""
