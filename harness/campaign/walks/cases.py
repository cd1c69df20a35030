"""Write the findings of a campaign as case files, which can be replayed and added to a corpus."""

from collections.abc import Iterable

from epochfuzz.harness.campaign.run.runner import Directory
from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.harness.cases import found_case
from epochfuzz.harness.cases.case import Case, dump_case
from epochfuzz.harness.environment.files import replace_file
from epochfuzz.harness.findings.findings import Finding


def case_for(finding: Finding, parameters: Parameters) -> Case:
    """Return a finding as a case: its schedule, with the results under all protocols of the campaign."""
    return found_case.case_for(finding, parameters.seed, "A campaign")


def write(cases: Iterable[Case], directory: Directory) -> None:
    """Write cases as files into a campaign's directory. Does nothing if the directory is not on this machine.

    The table of findings has the text of each case, too.
    """
    if directory.local is not None:
        place = directory.local / "cases"
        place.mkdir(exist_ok=True)
        for case in cases:
            replace_file(place / f"{case.id}.yaml", dump_case(case))
