"""Generate the JSON schemas in docs/schemas/: one for every command that has `--json`.

The module also writes the schema of the conformance protocol, which conform/protocol/wire.py declares. A later version
of epochfuzz may add keys to a document, but never removes a key. So the schemas allow additional keys.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.documents import cases, conformance, evidence, explained, measures, searches, walks

_FINISHED: Any = walks.Campaign | walks.MachineCampaign | evidence.ClusterCampaign

DOCUMENTS: dict[str, Any] = {
    "audit": evidence.Audit,
    "bench": measures.Bench,
    "campaign report": _FINISHED | walks.Status | walks.History,
    "campaign resume": _FINISHED,
    "campaign run": _FINISHED,
    "cases": cases.Cases,
    "cluster fuzz": evidence.ClusterFuzz,
    "cluster replay": evidence.ClusterReplay,
    "cluster run": evidence.Cluster,
    "conform": conformance.Conform | conformance.Exhaustive,
    "corpus add": cases.CorpusAdd,
    "explain": explained.Names | explained.Entry | explained.Issue | explained.ExplainedCase | explained.Releases,
    "explore": searches.Explore | searches.Explained | searches.Tours | searches.OwnExplore,
    "fuzz": walks.Fuzz | walks.FuzzSaved | walks.Ablation | walks.AblationSaved | walks.Distinction | searches.OwnFuzz,
    "new-adapter": cases.NewAdapter,
    "new-case": cases.NewCase,
    "play": cases.Play,
    "replay": cases.Replay | cases.Reruns | searches.OwnReplay,
    "report": cases.Report,
    "selftest": measures.Selftest,
    "serve": cases.Serve,
    "shrink": cases.Shrink | searches.OwnShrink,
    "skill": cases.Skill,
}


def schema(command: str) -> str:
    """Return the JSON schema of a command's document, as text."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    title = {"title": f"epochfuzz {command} --json"}
    return json.dumps(dialect | TypeAdapter(DOCUMENTS[command]).json_schema() | title, indent=2) + "\n"


def file_name(command: str) -> str:
    """Return the name of the file for a command's schema, such as `corpus-add.json` for `corpus add`."""
    return f"{command.replace(' ', '-')}.json"


def check(command: str, text: str) -> None:
    """Raise pydantic's ValidationError if `text`, the JSON that a command printed, does not match the command's schema.

    Here, a key that the schema does not declare is an error too.
    """
    TypeAdapter(DOCUMENTS[command]).validate_json(text, strict=True, extra="forbid")


def main(docs: Path = Path("docs")) -> None:
    """Write all schemas below the directory `docs`."""
    (docs / "conformance.schema.json").write_text(json.dumps(wire.schema(), indent=2) + "\n", encoding="utf-8")
    directory = docs / "schemas"
    directory.mkdir(exist_ok=True)
    for command in DOCUMENTS:
        (directory / file_name(command)).write_text(schema(command), encoding="utf-8")


if __name__ == "__main__":
    main()
