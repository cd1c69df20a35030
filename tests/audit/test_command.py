"""`epochfuzz audit` as people run it."""

import json
import random
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.harness.cli.main import main
from tests.audit.telling import LOGS, audited, found, leads, stamped, truncates
from tests.printed import check_json

LOST = LOGS / "re-elected-leader-4.3.1"
KEYS = {"kind", "topic", "partition", "first_offset", "last_offset", "leader_epoch", "evidence"}


@pytest.fixture
def run(monkeypatch, capsys):
    def call(*words):
        monkeypatch.setattr(sys, "argv", ["epochfuzz", "audit", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return call


def test_audit_exits_with_1_for_a_finding_and_prints_its_lines_and_its_cause(run):
    code, out, _ = run(LOST, "--no-spark")

    assert code == 1
    assert "committed-loss: t-0, offsets 4 to 5, epoch 4" in out
    assert "broker-2.log:" in out
    assert "Truncating t-0 to offset 4 below high watermark 6" in out
    assert "leads e3 from 6, HW 4, ISR 1,2" in out
    assert "Because of remote_leo=kept" in out


def test_audit_without_findings_and_gaps_exits_with_0_and_starts_and_ends_with_its_verdict(run):
    code, out, _ = run(LOGS / "operations-4.3.1")

    assert code == 0
    for line in (out.splitlines()[0], out.splitlines()[-1]):
        assert line.startswith(
            "nothing found: no line shows that a committed record was lost, and audit knows of no gap"
        )
    period = "period of these lines: 2026-11-23 12:00:28.565 to 2026-11-23 12:02:27.031"
    assert f"{period}. The result says nothing about other times" in out.splitlines()


def test_audit_exits_with_4_if_the_log_of_a_broker_is_missing_unless_gaps_are_accepted(run, tmp_path):
    for broker in (1, 2):
        (tmp_path / f"broker-{broker}.log").write_bytes(
            (LOGS / "operations-4.3.1" / f"broker-{broker}.log").read_bytes()
        )
    code, out, _ = run(tmp_path)

    assert code == 4
    assert out.splitlines()[-1].startswith("inconclusive: no line shows that a committed record was lost, but")
    assert "- broker 3 has a replica of" in out
    assert run(tmp_path, "--accept-gaps")[0] == 0


def test_audit_rejects_files_that_contain_no_line_of_a_broker(run, tmp_path):
    (tmp_path / "values.yaml").write_text("kafka:\n  replicas: 3\n")
    code, out, err = run(tmp_path)

    assert (code, out) == (2, "")
    assert "audit found no line of a Kafka broker in 1 file" in err
    assert "'kafka:'" in err


def test_audit_prints_a_line_for_a_partition_that_lost_records_after_the_verdict(run):
    _, out, _ = run(LOGS / "unclean-3.9.2")

    assert out.splitlines()[0].startswith("lost: committed records of 1 partition are gone (1,157 records)")
    assert out.splitlines()[1].startswith("lossy-0: offsets 550 to 1,706, 1,157 records, unclean election, 2026-11-23 ")


def test_audit_does_not_overwrite_an_existing_audit_json(run, tmp_path):
    (tmp_path / "elsewhere").write_text("mine")
    (tmp_path / "audit.json").symlink_to(tmp_path / "elsewhere")
    code, _, err = run(LOST, "--out", tmp_path)

    assert code == 2
    assert "audit.json is already there; choose another directory" in err
    assert (tmp_path / "elsewhere").read_text() == "mine"


def test_audit_prints_json_that_matches_its_schema(run):
    code, out, _ = run(LOST, "--json")
    check_json(["audit", "--json"], out)
    said = json.loads(out)

    assert code == 1
    assert said["partitions"] == 2  # one of __consumer_offsets among them
    assert said["lines"] == sum(len(file.read_text().splitlines()) for file in LOST.iterdir())
    assert [finding["kind"] for finding in said["findings"]][:2] == ["committed-loss", "re-elected-leader"]
    for finding in said["findings"]:
        assert finding.keys() >= KEYS
        assert all(line.keys() >= {"file", "line", "text"} for line in finding["evidence"])
    assert said["findings"][1]["explained"]["protocol"] == "kafka-4.3.1"


def test_the_option_out_writes_a_page_and_cases_that_replay_as_expected(run, tmp_path):
    run(LOST, "--out", tmp_path / "out")
    page = (tmp_path / "out" / "audit.html").read_text()
    cases = load_corpus([tmp_path / "out" / "cases"])

    assert "re-elected-leader: t-0, offsets 4 to 5, epoch 3" in page
    assert "<script" not in page
    assert json.loads((tmp_path / "out" / "audit.json").read_text())["lines"] > 0
    assert [case.id for case in cases] == ["t-0-re-elected-leader-3"]
    assert all(judge(case).as_expected for case in cases)


def test_audit_escapes_markup_and_escape_sequences_in_log_lines(run, tmp_path):
    hostile = leads(1, 3, 5, 5, before=(2, 2)).replace("adding replicas []", "adding replicas [<b>\x1b[31m[red]]")
    for name, broker in (("a.log", hostile), ("b.log", leads(2, 3, 5, 5, before=(2, 2)))):
        (tmp_path / name).write_text(stamped([broker]))
    code, out, _ = run(tmp_path, "--out", tmp_path / "out")

    assert code == 1
    assert "\x1b" not in out
    assert "[red]" in out
    assert "&lt;b&gt;" in (tmp_path / "out" / "audit.html").read_text()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing"], "missing: there is no such file or directory"),
        ([LOST, "--layout", "%p"], "--layout: '%p' has no %d; give log4j's conversion pattern"),
        ([LOST, "--broker", "("], "--broker: '(' is not a regular expression"),
        ([LOST, "--broker", "(node)"], "finds no broker number, neither in the path of a file nor before a line"),
        ([LOGS], "the logs come from"),
        (["http://127.0.0.1:1/server.log"], "audit reads file, s3, s3a, gs and hdfs URLs"),
        (["s3a://b/logs?endpoint_override=127.0.0.1:1&scheme=http"], "audit reads file, s3, s3a, gs and hdfs URLs"),
        ([LOST, "--no-spark", "--master", "local[2]"], "--no-spark can't be combined with --master or --remote"),
    ],
)
def test_audit_exits_with_2_and_a_message_for_bad_input(run, words, said):
    code, out, err = run(*words)

    assert (code, out) == (2, "")
    assert err.startswith("epochfuzz: ")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize("url", ["gs://anonymous@b/logs?", "s3://k:s@b/logs?region=x&", "s3a://k:s@b/logs?region=x&"])
def test_audit_stops_with_a_message_within_seconds_if_an_object_store_never_responds(run, monkeypatch, url):
    monkeypatch.setattr("epochfuzz.harness.audit.lines.sources._RESPONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        code, out, err = run(f"{url}endpoint_override=127.0.0.1:{silent.getsockname()[1]}&scheme=http")

    assert (code, out) == (2, "")
    assert (
        "no response within 1 s. audit reads file, s3, s3a, gs and hdfs URLs; download logs that are elsewhere" in err
    )
    assert time.monotonic() - began < 8


def test_the_timeline_shows_the_election_before_its_leader_starts(run):
    rows = run(LOGS / "unclean-3.9.2")[1].splitlines()
    places = [
        next(i for i, row in enumerate(rows) if words in row) for words in ("unclean election of 1 e1", "leads e1")
    ]

    assert places[0] + 1 == places[1]


def test_audit_rejects_the_url_of_a_data_directory(run, tmp_path):
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / "leader-epoch-checkpoint").write_text("0\n0\n")
    code, out, err = run(tmp_path.as_uri())

    assert (code, out) == (2, "")
    assert "holds a data directory" in err
    assert "copy it here, and give its path" in err


def test_audit_exits_with_2_for_an_empty_directory(run, tmp_path):
    assert run(tmp_path)[0] == 2


DAMAGES = {
    "cut lines": lambda text, draw: "".join(line[: draw.randrange(len(line) + 1)] + "\n" for line in text.splitlines()),
    "lines cut in front": lambda text, draw: "".join(
        line[draw.randrange(len(line) + 1) :] + "\n" for line in text.splitlines()
    ),
    "lost lines": lambda text, draw: "".join(line for line in text.splitlines(True) if draw.random() < 0.7),
    "lines mixed up": lambda text, draw: "".join(draw.sample(text.splitlines(True), len(text.splitlines()))),
    "a clock that jumps": lambda text, draw: "".join(
        line.replace("2026-11-23 1", f"2026-11-{draw.randrange(10, 28)} 0") for line in text.splitlines(True)
    ),
    "changed bytes": lambda text, draw: "".join(
        c if draw.random() < 0.99 else chr(draw.randrange(1, 0x300)) for c in text
    ),
    "an end that is missing": lambda text, draw: text[: draw.randrange(len(text))],
    "joined lines": lambda text, draw: "".join(
        line if draw.random() < 0.8 else line.rstrip("\n") for line in text.splitlines(True)
    ),
}
KEPT = (
    "kept-heard-of-it-4.3.1",
    "kept-late-4.3.1",
    "operations-3.3.2",
    "operations-4.3.1",
    "reassigned-3.3.2",
    "zookeeper-2.6.1",
)


@pytest.mark.thorough
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("logs", KEPT)
def test_audit_finds_nothing_in_damaged_logs_of_partitions_that_kept_all_records(tmp_path, logs, damage):
    for seed in range(7):
        draw = random.Random(f"{logs} {damage} {seed}")
        directory = tmp_path / str(seed)
        directory.mkdir()
        for file in sorted((LOGS / logs).iterdir()):
            lines = file.read_text().splitlines(keepends=True)
            text = "".join(
                line for line in lines if not re.search("in cluster|Cluster ID", line)
            )  # another id is another cluster
            damaged = DAMAGES[damage](text, draw)
            encoding = draw.choice(["utf-8", "utf-8", "latin-1"])
            (directory / file.name).write_bytes(damaged.encode(encoding, errors="replace"))

        assert [each for each in found(audited(directory)) if each[1] != "lossy-0"] == [], seed


@pytest.mark.thorough
def test_audit_has_equal_findings_if_spark_pandas_and_arrow_are_not_installed():
    code = (
        "import sys; sys.modules |= dict.fromkeys(('pyarrow', 'pyspark', 'pandas'));"
        f" sys.argv = ['epochfuzz', 'audit', {str(LOST)!r}, '--json'];"
        " from epochfuzz.harness.cli.main import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])

    assert ended.returncode == 1, ended.stderr
    assert [f["kind"] for f in json.loads(ended.stdout)["findings"]] == [f.what for f in audited(LOST).findings]


def test_audit_prints_no_error_if_the_reader_of_its_output_exits():
    command = [sys.executable, "-m", "epochfuzz", "audit", str(LOST)]
    ended = subprocess.run(
        f"{' '.join(command)} | head -1", shell=True, capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )

    assert ended.stderr == ""


def test_audit_lists_a_truncated_line_as_a_gap(tmp_path):
    (tmp_path / "broker.log").write_text(
        stamped([leads(1, 1, 5), truncates(3)]) + "[2026-01-02 03] INFO Truncating t-0 to\n"
    )

    assert any(
        "broker.log, line 3: the line has a broker's words about a partition" in gap for gap in audited(tmp_path).gaps
    )
