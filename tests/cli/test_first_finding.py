"""The first finding, which `fuzz` shows while it compiles the kernels."""

import io

import pytest
from rich.console import Console

from epochfuzz.harness.cli import first_finding
from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.engine.runtime import uncompiled_search
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS

LOSS = properties.named("no-committed-loss").bit
HW = GENERATIONS["hw"]


class Compiling:
    """Stand in for the compiling processes. They finish after `asked` reads of `goes_on`."""

    def __init__(self, asked: int) -> None:
        self.left = asked
        self.stopped = self.waited = False

    @property
    def goes_on(self) -> bool:
        self.left -= 1
        return self.left >= 0

    def wait(self) -> None:
        self.waited = True

    def stop(self) -> None:
        self.stopped = True


def shown(compiling: Compiling, protocols: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(first_finding, "Warming", lambda: compiling)
    out = Console(file=io.StringIO(), width=100)
    first_finding.show_first_finding(out, [GENERATIONS[name] for name in protocols], Configuration())
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_interpreted_and_compiled_search_find_the_same_shortest_schedule() -> None:
    settings = Configuration(records=2, epochs=2)
    for property_ in ("no-committed-loss", "isr-complete"):
        wanted = properties.named(property_).bit
        found = uncompiled_search.shortest(HW, settings, wanted, first_finding.SMALL, lambda: True)
        assert found == explore(HW, settings, wanted).shortest


def test_fuzz_shows_the_lost_record_while_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiling = Compiling(100_000)
    text = shown(compiling, ["hw", "kip-101"], monkeypatch)
    assert "9 notify B" in text
    assert "hw breaks no-committed-loss: 9 events, and no schedule is shorter" in text
    assert compiling.waited


def test_fuzz_stops_the_interpreted_search_when_the_compilation_finishes(monkeypatch: pytest.MonkeyPatch) -> None:
    compiling = Compiling(3)
    assert "breaks" not in shown(compiling, ["kip-320"], monkeypatch)
    assert compiling.waited


def test_fuzz_shows_no_first_finding_if_all_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(Compiling(0), ["hw"], monkeypatch) == ""


def test_ctrl_c_stops_the_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(uncompiled_search, "shortest", interrupted)
    compiling = Compiling(10)
    with pytest.raises(KeyboardInterrupt):
        shown(compiling, ["hw"], monkeypatch)
    assert compiling.stopped
