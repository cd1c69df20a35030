"""Code that the commands about case files share: errors in the files, protocols, and exit codes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from epochfuzz.harness.cases.case import Case, CaseError
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cases.verdict import JudgedCase
from epochfuzz.harness.cli.output import Exit, as_bad_input
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, ProtocolError
from epochfuzz.strategies.project import project


@contextmanager
def mistakes_as_bad_input() -> Iterator[None]:
    """Turn a CaseError or a ProtocolError in this block into BadInput."""
    with as_bad_input(CaseError), as_bad_input(ProtocolError, "--protocol"):
        yield


def known_cases(corpus: Path | None) -> list[Case]:
    """Return the cases of a corpus. `corpus` None means ./corpus, which may be missing. Raises BadInput."""
    if corpus is None and not any(Path("corpus").rglob("*.yaml")):
        return []
    with as_bad_input(CaseError, "--corpus"):
        return load_corpus([corpus or Path("corpus")])


def protocols_for(case: Case, asked: Sequence[str] | None) -> Sequence[str]:
    """Return the names of the protocols under which to replay a case.

    The names come from the first of these sources that has any: the command line (`asked`), the case, the project's
    defaults, the reference designs.
    """
    return asked or case.protocols or [protocol.name for protocol in project().protocols] or list(GENERATIONS)


def exit_code(judged_cases: Sequence[JudgedCase]) -> Exit:
    """Return the exit code of a command that checked cases.

    The code is INTERNAL if the fingerprint of a replay (a digest of all events and their effects) differs from the
    recorded fingerprint. Otherwise the code is BROKEN if a case does not end as expected, or else AS_EXPECTED.
    """
    if any(judged.drifted for judged in judged_cases):
        return Exit.INTERNAL
    return Exit.AS_EXPECTED if all(judged.as_expected for judged in judged_cases) else Exit.BROKEN
