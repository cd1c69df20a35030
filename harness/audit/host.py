"""The audit on a broker's host, in one process. It needs only Python's standard library.

There is one exception: logs packed with zstd need Python 3.14 or the package zstandard. `make audit.pyz` packs this
module and its imports into one file. The command `epochfuzz audit` uses the same readers and rules. In addition,
`epochfuzz audit` measures its own running time, and turns a finding into a case: a schedule of events to replay in the
model (told_case.py).
"""

import argparse
import json
import sys
from collections.abc import Sequence

from epochfuzz.harness.audit import one_process
from epochfuzz.harness.audit.audit import Audit, AuditRequest
from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.audit.lines.sources import is_url
from epochfuzz.harness.audit.sentences import conclusion, context_lines, partition_line, read_line, title
from epochfuzz.harness.audit.summary import affected
from epochfuzz.harness.text.printable import printable

_FOUND, _NOTHING, _BAD_INPUT, _INTERRUPTED, _INCONCLUSIVE = 1, 0, 2, 130, 4
_HELP = """Audit broker logs and data directories (log.dirs) for committed records that are gone.

Name the logs and disks, or copies of them, of all brokers of one cluster. Nothing is written.

exit codes: 0 nothing found, 1 something found, 2 wrong input, 4 inconclusive: the gaps could hide a loss
"""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command audit.pyz, and return its exit code. `words` are its arguments, by default from sys.argv."""
    parser = argparse.ArgumentParser("audit.pyz", description=_HELP, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paths", metavar="PATH", nargs="+", help="files and directories")
    parser.add_argument("--broker", metavar="PATTERN", help="a regular expression that finds a broker's id in a path")
    parser.add_argument("--layout", action="append", help="the layout of lines, as log4j's conversion pattern")
    parser.add_argument("--accept-gaps", action="store_true", help="exit with 0 although gaps could hide a loss")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    asked = parser.parse_args(words)
    url = next(filter(is_url, asked.paths), None)
    if url is not None:
        parser.error(
            f"{url} is a URL, but audit.pyz reads only files; copy them here, or run `epochfuzz audit` on the URL"
        )
    try:
        audit = one_process.run(AuditRequest.of(asked.paths, asked.layout or (), asked.broker), lambda text: None)
    except AuditError as error:
        print(f"audit.pyz: {error}", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt:
        return _INTERRUPTED
    try:
        print(document(audit) if asked.json else text_of(audit, asked.accept_gaps))
    except BrokenPipeError:  # the reader ended early, such as `head`
        sys.stderr.close()
    if audit.findings:
        return _FOUND
    return _INCONCLUSIVE if audit.gaps and not asked.accept_gaps else _NOTHING


def document(audit: Audit) -> str:
    """Return the JSON document of `epochfuzz audit --json`, without the cases, which need the model."""
    findings = [{**finding.plain(), "explained": None} for finding in audit.findings]
    partitions = [each.plain() for each in affected(audit.findings)]
    return json.dumps({**audit.plain(), "affected": partitions, "findings": findings}, indent=2)


def text_of(audit: Audit, accepts_gaps: bool) -> str:
    """Return the audit as text: the verdict, a line for each partition, and then the details."""
    lines = [conclusion(audit, accepts_gaps), *(f"  {partition_line(each)}" for each in affected(audit.findings))]
    for finding in audit.findings:
        lines += ["", title(finding), f"  {finding.told}"]
        for event in finding.evidence:
            lines += [f"  broker {event.broker}  {event.file}:{event.line}", f"    {event.text}"]
    for heading, told in (("Gaps that could hide a loss", audit.gaps), ("Notes", audit.notes)):
        lines += ["", heading, *(f"  - {each}" for each in told)] if told else []
    return "\n".join(printable(line) for line in [*lines, "", read_line(audit), *context_lines(audit)])
