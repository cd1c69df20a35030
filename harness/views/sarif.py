"""Write findings as SARIF 2.1.0, the JSON format that code scanning services and editors read.

Each property is a SARIF rule, and each finding is a result. The log embeds the case file of a finding as an artifact.
The result points to a line of this file, and its code flow follows the events in the file. A known bug of a protocol is
a suppressed note.
"""

from collections.abc import Sequence
from typing import Any

from epochfuzz.harness.cases.case import Case, dump_case
from epochfuzz.harness.cases.found_case import case_for
from epochfuzz.harness.environment.version import epochfuzz_version
from epochfuzz.harness.findings.findings import Finding, ScheduleEngine
from epochfuzz.harness.reference import explain
from epochfuzz.harness.trace.scenes import Scene
from epochfuzz.harness.views import play_links
from epochfuzz.model.kafka.contract.properties import NAMES, named
from epochfuzz.model.kafka.vocabulary.events import schedule_texts

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def log(walker: ScheduleEngine, findings: Sequence[Finding], reproduce: str) -> dict[str, Any]:
    """Return a SARIF log with one run. `reproduce` is the command that runs the same schedules again."""
    cases = [case_for(each, walker.seed, "A walk") for each in findings]
    run = {
        "tool": {
            "driver": {
                "name": "epochfuzz",
                "version": epochfuzz_version(),
                "rules": [_rule(name) for name in NAMES],
            }
        },
        "invocations": [{"executionSuccessful": True, "commandLine": reproduce}],
        "columnKind": "unicodeCodePoints",
        "artifacts": [_artifact(case) for case in cases],
        "results": [_result(finding, case, i) for i, (finding, case) in enumerate(zip(findings, cases, strict=True))],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str) -> dict[str, Any]:
    entry = explain.glossary()[name]
    return {
        "id": name,
        "shortDescription": {"text": entry.summary},
        "fullDescription": {"text": entry.means},
        "help": {"text": entry.why},
        "defaultConfiguration": {"level": "error"},
    }


def _artifact(case: Case) -> dict[str, Any]:
    return {
        "location": {"uri": _uri(case)},
        "mimeType": "application/yaml",
        "roles": ["attachment"],
        "contents": {"text": dump_case(case)},
    }


def _result(finding: Finding, case: Case, index: int) -> dict[str, Any]:
    """Return the SARIF result of a finding. `index` is the position of the finding's case in the list of artifacts."""
    run = finding.witness.runs[finding.protocol.name]
    scenes = run.scenes[1:]
    first_line = dump_case(case).splitlines().index("events:") + 2  # lines count from 1
    reproducer = finding.reproducer
    text = f"{finding.protocol.name} breaks {finding.property} in {len(scenes)} events. {scenes[-1].sentence}"
    result = {
        "ruleId": finding.property,
        "ruleIndex": named(finding.property).number,
        "level": "note" if finding.known_flaw else "error",
        "message": {"text": text},
        "locations": [_location(case, index, first_line + len(scenes) - 1)],
        "codeFlows": [{"threadFlows": [{"locations": [_step(s, case, index, first_line) for s in scenes]}]}],
        "partialFingerprints": {"schedule/v1": run.fingerprint},
        "properties": {
            "protocol": finding.protocol.name,
            "events": schedule_texts(reproducer.schedule),
            "certifiedMinimal": reproducer.certified_minimal,
            "seen": finding.seen,
            "schedule": finding.schedule,
            **finding.causes.plain(),
        },
    }
    if link := play_links.to_finding(finding):
        result["hostedViewerUri"] = link
    if finding.known_flaw:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": finding.known_flaw}]
    return result


def _step(scene: Scene, case: Case, index: int, first_line: int) -> dict[str, Any]:
    message = {"message": {"text": f"{scene.event}: {scene.sentence}"}}
    return {
        "location": _location(case, index, first_line + scene.number - 1) | message,
        "executionOrder": scene.number,
        "importance": "essential" if scene.newly_broken else "important",
    }


def _location(case: Case, index: int, line: int) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": _uri(case), "index": index}, "region": {"startLine": line}}
    return {"physicalLocation": place}


def _uri(case: Case) -> str:
    return f"{case.id}.yaml"
