"""The commands of docs/how-to/spark-cluster.md run as printed, and every Spark setup writes equal tables."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from epochfuzz.harness.campaign.store.local_tables import LocalTables
from tests.campaign.conftest import block_rows
from tests.conform.running import ROOT
from tests.documents.pages import blocks, named

pytestmark = pytest.mark.slow

PAGE = named("how-to/spark-cluster.md")
PORTS = (7077, 15002)  # of the servers that the page starts
PATIENCE = 1500  # seconds, because three kinds of workers compile the rules
OF_ONE_RUN = ("worker", "memory", "wave", "seconds")


def is_free(port: int) -> bool:
    with closing(socket.socket()) as tried:
        return tried.connect_ex(("127.0.0.1", port)) != 0


def follow(directory: Path) -> str:
    """Run all commands of the page in a shell, and kill the processes that remain. Returns the output."""
    for block in blocks(PAGE):
        if "file" in block.notes:
            (directory / block.notes["file"]).write_text(block.text)
    commands = "\n".join(["set -e", *(block.text for block in blocks(PAGE, "shell"))])
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
    }
    with (directory / "printed").open("w+") as printed:
        shell = subprocess.Popen(
            ["bash", "-c", commands],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = shell.wait(PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
        printed.seek(0)
        text = printed.read()
    assert code == 0, text
    return text


def rows_of(directory: Path, table: str) -> list[dict[str, object]]:
    if table == "blocks":
        return block_rows(SimpleNamespace(local=directory))
    rows = LocalTables(directory).read_rows_as_they_are(table)
    return [{key: row[key] for key in row if key not in OF_ONE_RUN} for row in rows]


@pytest.mark.timeout(PATIENCE + 300)
@pytest.mark.skipif(not all(map(is_free, PORTS)), reason="another Spark server uses the ports of the page")
def test_every_spark_setup_of_the_page_writes_equal_rows_and_names_its_master(tmp_path: Path) -> None:
    printed = follow(tmp_path)
    places = [line.partition(" runs on ")[2] for line in printed.splitlines() if " runs on " in line]
    standalone = f"spark://127.0.0.1:{PORTS[0]}"
    assert places == ["local[2]", standalone, "Spark Connect", standalone, standalone]
    assert "3 rows of the open session" in printed
    first, *others = (tmp_path / "build" / name for name in ("local", "standalone", "connect", "submitted", "mine"))
    for table in ("blocks", "findings", "situations", "outcome"):
        expected = rows_of(first, table)
        assert expected
        for other in others:
            assert rows_of(other, table) == expected, (table, other.name)
