"""After many resets of Kafka's own code, it has no more open files, uses no more memory, and is no slower."""

import os
import re
import sys
import time
from pathlib import Path

import pytest

from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.process import LineProcess
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from tests.systems.jvm.build import missing

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

RESETS = int(os.environ.get("RESETS", "2000"))  # 100,000 take hours
TOGETHER = 20
CONFIG = wire.config_of(Configuration(replicas=2, records=1, epochs=2))
EVENTS = ("produce A", "fetch B", "receive B", "crash A", "restart A")


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    for lack in missing():
        pytest.skip(lack)


@pytest.mark.parametrize(
    ("release", "protocol"),
    [("1.1.1", "kafka-1.1"), ("2.6.1", "kafka-2.6.1"), ("3.4.1", "kafka-3.4.1"), ("4.3.1", "kafka-4.1")],
)
def test_resets_of_kafka_leak_no_file_and_no_memory_and_do_not_slow_down(release: str, protocol: str) -> None:
    process = LineProcess([sys.executable, "-m", "tests.conform.kafka", release])
    try:
        process.ask(wire.reset_request(CONFIG, protocol), 120.0)
        reset_for(process, protocol, RESETS // 4)  # the first resets are slow: nothing is compiled yet
        files, memory, seconds = open_files(process), resident(process), reset_for(process, protocol, RESETS // 4)
        reset_for(process, protocol, RESETS // 4)
        assert reset_for(process, protocol, RESETS // 4) < 3 * seconds  # other processes use the machine as well
        assert open_files(process) <= files + 10
        assert resident(process) <= memory + 64
    finally:
        process.kill()


def reset_for(process: LineProcess, protocol: str, times: int) -> float:
    """Reset the adapter a number of times, each time with some events. Returns the seconds that this takes."""
    started = time.monotonic()
    lines = [wire.reset_request(CONFIG, protocol), *map(wire.event_request, EVENTS)] * TOGETHER
    for _ in range(times // TOGETHER):
        for reply in process.ask_each(lines, 60.0):
            assert re.search(b'"ok":true|"applied":', reply)
    return time.monotonic() - started


def resident(process: LineProcess) -> int:
    """Return the memory of a process, in MiB."""
    (kibibytes,) = re.findall(r"VmRSS:\s*(\d+)", Path(f"/proc/{process.pid}/status").read_text())
    return int(kibibytes) // 1024


def open_files(process: LineProcess) -> int:
    """Return the number of open files of a process."""
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
