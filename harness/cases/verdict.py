"""Replay a case, and compare the results with its expectations."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from epochfuzz.harness.cases.case import Case, CheckedState, Expectation, log_texts
from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.vocabulary.events import event_text
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


@dataclass(frozen=True)
class Verdict:
    """The result of a case's schedule under one protocol, and its differences from the expectation.

    `at` is the number of the event that first broke an expected property. If no expected property broke, `at` is the
    number of the event that first broke any property, or None. A property that only warns of a later loss, such as
    `isr-complete`, counts only if no other property broke. `mismatches` has a sentence for each difference.

    `drift` is a sentence if the replay's fingerprint (a digest of all events and their effects) differs from the
    recorded fingerprint, otherwise None. A drift is more serious than a mismatch: the model has changed, or a run is no
    longer deterministic.
    """

    run: Run
    at: int | None
    mismatches: tuple[str, ...]
    drift: str | None

    @property
    def complaints(self) -> tuple[str, ...]:
        """All differences from the expectation, in sentences. The drift comes last."""
        return self.mismatches if self.drift is None else (*self.mismatches, self.drift)


@dataclass(frozen=True)
class JudgedCase:
    """A case, and its verdict under each protocol."""

    case: Case
    verdicts: dict[str, Verdict]

    @property
    def as_expected(self) -> bool:
        """True if every protocol gave the expected results and the recorded fingerprints."""
        return not self.drifted and not any(verdict.mismatches for verdict in self.verdicts.values())

    @property
    def drifted(self) -> bool:
        """True if the fingerprint of a replay differs from the recorded fingerprint."""
        return any(verdict.drift for verdict in self.verdicts.values())


def judge(case: Case, protocols: Iterable[str] | None = None) -> JudgedCase:
    """Replay a case under the named protocols, and compare the results with the case's expectations.

    `protocols` None means all protocols that the case mentions. Raises ProtocolError.
    """
    names = case.protocols if protocols is None else protocols
    runs = [replay(case.events, parse_protocol(name), case.settings) for name in names]
    return JudgedCase(case, {run.protocol.name: _verdict(case, run) for run in runs})


def rewritten(case: Case) -> Case:
    """Return the case with the results of replays in place of its expectations, states and fingerprints."""
    runs = {name: verdict.run for name, verdict in judge(case).verdicts.items()}
    provenance = case.provenance
    if case.fingerprints:
        provenance = {**(provenance or {}), "fingerprint": {name: runs[name].fingerprint for name in case.fingerprints}}
    return replace(
        case,
        expect={name: _expectation_met(runs[name], expected) for name, expected in case.expect.items()},
        states=tuple(_state_met(runs[state.protocol], state) for state in case.states),
        provenance=provenance,
    )


def differences(
    expected: dict[str, Any], observed: dict[str, Any], where: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Yield (keys, expected value, observed value) for each difference between two nested dictionaries.

    Only keys in `expected` are compared. The observed value is None if `observed` lacks the key. `keys` is the path
    from the outermost dictionary to the value, and begins with the keys in `where`.
    """
    for key, value in expected.items():
        if isinstance(value, dict):
            yield from differences(value, observed.get(key, {}), (*where, key))
        elif value != observed.get(key):
            yield (*where, key), value, observed.get(key)


def _verdict(case: Case, run: Run) -> Verdict:
    name = run.protocol.name
    expected = case.expect.get(name)
    mismatches = [*broken_otherwise(run, expected)] if expected else []
    for state in case.states:
        if state.protocol == name:
            mismatches += _seen_otherwise(run, state)
    at = (_first_break(run, expected.broken) if expected else None) or run.at
    return Verdict(run, at, tuple(mismatches), _drift(run, case.fingerprints.get(name)))


def broken_otherwise(run: Run, expected: Expectation) -> Iterator[str]:
    """Yield a sentence for each difference between the violations of a run and the expected violations."""
    for name in expected.broken:
        if name not in run.broken:
            yield f"{name} was expected to break, but {'is only permitted to' if name in run.permitted else 'held'}"
    if not expected.broken:
        for name in run.broken:
            yield f"nothing was expected to break, but {name} broke {_moment(run, run.first_broken[name])}"
    at = _first_break(run, expected.broken)
    if expected.at is not None and at is not None and at != expected.at:
        yield f"the first break was expected {_moment(run, expected.at)}, but came {_moment(run, at)}"
    if expected.permitted is not None and set(expected.permitted) != set(run.permitted):
        yield f"the permitted violations should be {_listed(expected.permitted)}, but are {_listed(run.permitted)}"


def _first_break(run: Run, broken: tuple[str, ...]) -> int | None:
    """Return the number of the first event that broke a property in `broken`, or None if no event did.

    A property that only warns of a later loss, such as `isr-complete`, counts only if no other property in `broken`
    broke, as in `Run.at`.
    """
    return replace(run, first_broken={name: at for name, at in run.first_broken.items() if name in broken}).at


def _seen_otherwise(run: Run, state: CheckedState) -> Iterator[str]:
    for (*_, who, name), expected, observed in differences(state.observation, _observation(run, state.after)):
        want, have = (_listed(log_texts(value)) if name == "log" else value for value in (expected, observed))
        yield f"{_moment(run, state.after)}, {name} of {who} was expected to be {want}, but is {have}"


def _drift(run: Run, recorded: str | None) -> str | None:
    if recorded is None or recorded == run.fingerprint:
        return None
    return f"the run's fingerprint is {run.fingerprint}, but {recorded} was recorded"


def _expectation_met(run: Run, expected: Expectation) -> Expectation:
    says_permitted = expected.permitted is not None or run.permitted
    return Expectation(tuple(run.broken), run.at, tuple(run.permitted) if says_permitted else None)


def _state_met(run: Run, state: CheckedState) -> CheckedState:
    return replace(state, observation=_same_keys(state.observation, _observation(run, state.after)))


def _same_keys(part: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _same_keys(value, whole[key]) if isinstance(value, dict) else whole[key]
        for key, value in part.items()
        if key in whole
    }


def _observation(run: Run, after: int) -> dict[str, Any]:
    return observe(run.steps[after - 1].state if after else run.start)


def _moment(run: Run, number: int) -> str:
    return f"after event {number} ({event_text(run.steps[number - 1].event)})" if number else "at the start"


def _listed(words: Iterable[str]) -> str:
    return f"[{', '.join(words)}]"
