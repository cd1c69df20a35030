"""Findings in other people's formats: SARIF for code scanning, annotations and a step summary for GitHub Actions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def epochfuzz(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run epochfuzz without the variables of GitHub Actions, except those in `environment`."""
    command = [sys.executable, "-c", "from epochfuzz.harness.cli.main import main; main()", *map(str, arguments)]
    bare = {"GITHUB_ACTIONS": "", "GITHUB_STEP_SUMMARY": ""} | environment
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **bare})


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Make a random run with known findings of hw and new findings. Returns its output in every format."""
    place = tmp_path_factory.mktemp("walk")
    files = {name: place / name for name in ("findings.sarif", "report.html", "summary.md")}
    protocols = ("--protocol", "hw", "--protocol", "kip-320:fencing=none")
    ended = epochfuzz(
        *("fuzz", *protocols, "--schedules", 3000, "--seed", 3, "--epochs", 4, "--records", 3, "--json"),
        *("--sarif", files["findings.sarif"], "--report", files["report.html"]),
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(files["summary.md"]),
    )
    assert ended.returncode == 1, ended.stderr
    texts = {name: file.read_text(encoding="utf-8") for name, file in files.items()}
    return texts | {"json": json.loads(ended.stdout), "said": ended.stderr}


@pytest.fixture
def sarif(walked):
    return json.loads(walked["findings.sarif"])


@pytest.mark.thorough
def test_a_sarif_log_has_a_rule_for_each_property_and_a_result_for_each_finding(walked, sarif):
    assert sarif["version"] == "2.1.0"
    (run,) = sarif["runs"]
    rules = run["tool"]["driver"]["rules"]
    found = walked["json"]["findings"]
    assert [result["ruleId"] for result in run["results"]] == [finding["property"] for finding in found]
    for result, finding in zip(run["results"], found, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == ("error" if finding["known_flaw"] is None else "note")
        assert ("suppressions" in result) == (finding["known_flaw"] is not None)
        assert result["partialFingerprints"] == {"schedule/v1": finding["fingerprint"]}
        assert result["properties"]["events"] == finding["events"]


def test_a_code_flow_points_to_the_events_in_the_case_file_of_the_sarif_log(sarif, tmp_path):
    (run,) = sarif["runs"]
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        artifact = run["artifacts"][place["index"]]
        assert artifact["location"]["uri"] == place["uri"]
        lines = artifact["contents"]["text"].splitlines()
        (thread,) = result["codeFlows"][0]["threadFlows"]
        at = [step["location"]["physicalLocation"]["region"]["startLine"] for step in thread["locations"]]
        assert [lines[line - 1].removeprefix("  - ") for line in at] == result["properties"]["events"]
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == at[-1]
        assert thread["locations"][-1]["importance"] == "essential" or result["ruleId"] == "convergence"


def test_the_cases_in_a_sarif_log_replay_as_expected(sarif, tmp_path):
    for artifact in sarif["runs"][0]["artifacts"]:
        (tmp_path / artifact["location"]["uri"]).write_text(artifact["contents"]["text"], encoding="utf-8")
    ended = epochfuzz("replay", tmp_path, "--json")
    assert ended.returncode == 0, ended.stderr
    assert len(json.loads(ended.stdout)["cases"]) == len(sarif["runs"][0]["results"])


def test_the_report_of_a_random_run_shows_unexpected_findings_first(walked):
    page = walked["report.html"]
    assert page.index("kip-320:fencing=none breaks") < page.index("hw breaks")
    assert "Coverage goals: schedules that met each" in page
    assert "showed something that no other one did" in " ".join(page.split())
    assert walked["json"]["reproduce"] in page


def test_fuzz_in_github_actions_annotates_each_unexpected_finding_as_an_error(walked):
    annotations = [line for line in walked["said"].splitlines() if line.startswith("::")]
    new = [finding for finding in walked["json"]["findings"] if finding["known_flaw"] is None]
    assert len(annotations) == len(new) > 0
    for annotation, finding in zip(annotations, new, strict=True):
        title = f"::error title=kip-320%3Afencing=none breaks {finding['property']}::"
        assert annotation.startswith(f"{title}{', '.join(finding['events'])}%0Areproduce: epochfuzz fuzz ")
        assert f"%0Aplay: http://127.0.0.1:8320/?{query_of(finding)}" in annotation


def query_of(finding):
    """The beginning of the address of a finding in `play`, up to its first protocol."""
    return f"protocol={finding['protocol'].replace('=', '%253D')}"


def test_the_report_and_the_sarif_log_link_each_finding_to_play(walked, sarif):
    for result, finding in zip(sarif["runs"][0]["results"], walked["json"]["findings"], strict=True):
        assert result["hostedViewerUri"].startswith("http://127.0.0.1:8320/?protocol=")
        assert ",".join(finding["events"]).replace(" ", "+") in result["hostedViewerUri"]
        assert result["hostedViewerUri"].partition("&step=")[0].replace("&", "&amp;") in walked["report.html"]


def test_the_step_summary_has_a_table_and_a_diagram_of_the_unexpected_findings(walked):
    lines = walked["summary.md"].splitlines()
    new = [finding for finding in walked["json"]["findings"] if finding["known_flaw"] is None]
    assert lines[0].startswith(f"### epochfuzz: {len(new)} unexpected, ")
    assert sum(line.startswith("| kip-320:fencing=none | ") for line in lines) == len(new)
    assert "```mermaid" in lines
    assert not any("hw breaks" in line for line in lines if line.startswith("####"))


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A case that is not as expected."""
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "schema: 1\nid: wrong\nwhy: Wrong.\nevents: [produce A]\nexpect:\n  hw: {broken: [no-divergence]}\n"
    )
    return file


def test_replay_in_github_actions_annotates_the_file_of_an_unexpected_result(case, tmp_path):
    summary = tmp_path / "summary.md"
    ended = epochfuzz("replay", case, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    said = f"::error file={case},title=wrong is not as expected::hw: no-divergence was expected to break, but held"
    (annotation,) = (line for line in ended.stdout.splitlines() if line.startswith("::"))
    assert annotation.startswith(f"{said}%0Aplay: http://127.0.0.1:8320/?case=wrong&protocol=hw&")
    assert summary.read_text().splitlines()[0] == "### epochfuzz: 0 of 1 cases as expected"


def test_replay_outside_github_actions_prints_no_annotation(case):
    ended = epochfuzz("replay", case)
    assert ended.returncode == 1
    assert "::" not in ended.stdout + ended.stderr


def test_replay_stops_with_a_clear_message_if_the_step_summary_cannot_be_written(case, tmp_path):
    ended = epochfuzz("replay", case, GITHUB_STEP_SUMMARY=str(tmp_path))
    assert (ended.returncode, ended.stderr) == (
        2,
        f"epochfuzz: GITHUB_STEP_SUMMARY: {tmp_path} cannot be written: Is a directory\n",
    )
