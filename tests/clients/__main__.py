"""`python -m tests.clients [LIBRARY ...]`: test client libraries against the model, and print a table.

Builds the adapter of each library, and runs the cases for clients on it. A failure is repeated on a new process. A
library whose toolchain is missing is a row that says so. The exit code is 0 if the table is complete, whatever the
verdicts; 2 if no library could be tested.
"""

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.conform.client.client_cases import client_cases
from tests.clients import verdicts
from tests.clients.library import Library, libraries
from tests.clients.verdicts import Verdict
from tests.systems.system import BuildError


def main() -> int:
    """Test the named libraries, by default all of them, and print the results."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    names = ", ".join(dict.fromkeys(library.name for library in libraries()))
    parser.add_argument("library", nargs="*", help=f"a part of a name, such as java: {names}; default: all")
    given = [name.lower() for name in parser.parse_args().library]
    chosen = [each for each in libraries() if not given or any(name in each.name.lower() for name in given)]
    if not chosen:
        parser.error(f"there is no library {', '.join(given)}; there are {names}")
    out = Console(width=None if sys.stdout.isatty() else 240, highlight=False, soft_wrap=True, markup=False)
    found: dict[Library, list[Verdict]] = {}
    skipped: dict[Library, str] = {}
    cases = client_cases([verdicts.PROTOCOL])
    for library in chosen:
        try:
            command = library.command()
        except BuildError as error:
            skipped[library] = str(error)
            continue
        found[library] = tested(library, command, cases)
    out.print(verdicts.table(found, skipped))
    out.print(verdicts.by_case(found))
    for line in verdicts.evidence(found):
        out.print(line)
    return 0 if found else 2


def tested(library: Library, command: Sequence[str], cases: Sequence[Case]) -> list[Verdict]:
    """Run all cases on a library, with a counter on standard error."""
    done: list[Verdict] = []
    for verdict in verdicts.verdicts(command, cases):
        done.append(verdict)
        print(f"\r{library.title}: {len(done)} of {len(cases)} cases", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return done


if __name__ == "__main__":
    sys.exit(main())
