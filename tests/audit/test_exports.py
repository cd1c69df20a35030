"""Logs as tools export, split, wrap and encode them: the same findings, and no finding for a cluster that kept all."""

import re

import pytest

from tests.audit.collected import LINES, Line
from tests.audit.exported import EXPORTS, OWN_EXPORTS, exports
from tests.audit.telling import LOGS, audited, found
from tests.audit.test_layouts import FINDINGS

EXPORTED = exports()
KEPT = LOGS / "operations-4.3.1"
OWN = re.compile(r"\[(\S+ \S+)\] (\w+) (.*) \((\S+)\)")
OF_WEEKS = ("klog", "French", "Spanish", "German")  # they write September, and no other month


def put(directory, files):
    for name, content in files.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return directory


@pytest.mark.parametrize("layout", EXPORTED)
def test_an_export_shows_the_loss_that_the_log_shows(tmp_path, layout):
    audit = audited(put(tmp_path, EXPORTED[layout]))

    assert found(audit) == FINDINGS
    assert audit.events == len(LINES)


@pytest.fixture(scope="module")
def kept():
    lines = []
    for broker in (1, 2, 3):
        for text in (LOGS / "operations-4.3.1" / f"broker-{broker}.log").read_text().splitlines():
            if own := OWN.fullmatch(text):
                at, level, message, logger = own.groups()
                lines.append(Line(broker, at.replace(",", "."), level, logger, message))
    return sorted(lines, key=lambda line: line.at)


@pytest.mark.parametrize("layout", [name for name in EXPORTS | OWN_EXPORTS if name not in OF_WEEKS])
@pytest.mark.parametrize("is_one_file", [False, True])
def test_an_export_of_a_cluster_that_kept_everything_shows_nothing(tmp_path, kept, layout, is_one_file):
    if is_one_file and layout in OWN_EXPORTS:
        return
    write = (EXPORTS | OWN_EXPORTS)[layout]
    usual, exported = tmp_path / "usual", tmp_path / "exported"
    usual.mkdir()
    exported.mkdir()
    (exported / "all.log").write_text("".join(f"{write(line)}\n" for line in kept if is_one_file))
    for broker in (1, 2, 3):
        own = [line for line in kept if line.broker == broker]
        (usual / f"kafka-{broker}.log").write_text("".join(f"{line.own}\n" for line in own))
        if not is_one_file:
            (exported / f"kafka-{broker}.log").write_text("".join(f"{write(line)}\n" for line in own))
    whole, audit = audited(usual), audited(exported)

    assert found(audit) == []
    assert audit.events == whole.events
    assert [gap for gap in audit.gaps if gap not in whole.gaps] == []
