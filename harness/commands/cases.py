"""What commands over case files have in common: mistakes in them, and how they end."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from epochfuzz.harness.cases.case import CaseError
from epochfuzz.harness.cases.judgement import Judgement
from epochfuzz.harness.commands.outcome import BadInput, Exit
from epochfuzz.model.protocols import ProtocolError


@contextmanager
def mistakes_told() -> Iterator[None]:
    """A mistake in a case file, or in a protocol to judge it under, is bad input."""
    try:
        yield
    except CaseError as error:
        raise BadInput(str(error)) from None
    except ProtocolError as error:
        raise BadInput(f"--protocol: {error}") from None


def exit_code(judgements: Sequence[Judgement]) -> Exit:
    """How a command ends that has judged cases: a replay that is not the recorded one is worse than any verdict."""
    if any(judgement.drifted for judgement in judgements):
        return Exit.INTERNAL
    return Exit.AS_EXPECTED if all(judgement.as_expected for judgement in judgements) else Exit.BROKEN
