"""`epochfuzz selftest`: check that random schedules detect every mutant of the model."""

from typing import TYPE_CHECKING

from rich.progress import track
from rich.table import Table
from rich.text import Text

from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.output import Exit, console, print_json
from epochfuzz.harness.environment.seeds import random_seed

if TYPE_CHECKING:
    from epochfuzz.harness.documents import measures


def selftest(seed: options.Seed = None, json: options.Json = False) -> int:
    """Put one mutant after another into the model, and check that random schedules detect each mutant.

    Examples:

    - `epochfuzz selftest`
    - `epochfuzz selftest --seed 7 --json`
    """
    from epochfuzz.harness.lab.mutants.selftest import catch, detectable

    out = console(json)
    if seed is None:
        seed = random_seed()
    out.print(f"seed {seed}")
    defects = track(detectable(), "trying mutants", console=out, transient=True, disable=not out.is_terminal)
    catches = [catch(defect, seed) for defect in defects]
    table = Table(
        "mutant", "in place of", "killed by", "schedules", title="Mutants, and the properties that detect them"
    )
    for each in catches:
        caught_by = Text(each.property) if each.property else Text("NOT KILLED", "bold reverse")
        replaced = ", ".join(rule.__name__ for rule in each.defect.mistaken)
        table.add_row(each.defect.name, replaced, caught_by, f"{each.schedules:,}")
    out.print(table)
    missed = [each.defect.name for each in catches if each.property is None]
    out.print(
        f"{len(catches) - len(missed)} of {len(catches)} mutants killed\nreproduce: epochfuzz selftest --seed {seed}"
    )
    if json:
        document: measures.Selftest = {
            "seed": seed,
            "caught": not missed,
            "defects": [
                {
                    "name": each.defect.name,
                    "mistake": each.defect.mistake,
                    "module": each.defect.module,
                    "rules": each.defect.rules,
                    "jira": each.defect.jira,
                    "protocol": each.defect.protocol,
                    "configuration": each.settings.changed(),
                    "property": each.property,
                    "schedules": each.schedules,
                }
                for each in catches
            ],
        }
        print_json(document)
    return Exit.BROKEN if missed else Exit.AS_EXPECTED
