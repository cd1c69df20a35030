"""Damaged data directories: no traceback, and no false finding."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from epochfuzz.harness.audit.errors import AuditError
from tests.audit.disks.disk_sets import RUNS, on_disk, truth_of, unpacked

SETS = 500
_GROUPS = 10
_NUMBERS = (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\0")


def wrong_bytes(file: Path, data: bytearray, draw: random.Random, files: list[Path]) -> None:
    for _ in range(draw.choice([1, 1, 4, 20])):
        data[draw.randrange(len(data))] = draw.randrange(256)
    file.write_bytes(data)


def truncated(file: Path, data: bytearray, draw: random.Random, files: list[Path]) -> None:
    file.write_bytes(data[: draw.randrange(len(data))])


def huge_numbers(file: Path, data: bytearray, draw: random.Random, files: list[Path]) -> None:
    at = draw.randrange(len(data))
    data[at : at + 4] = draw.choice(_NUMBERS)
    file.write_bytes(data)


def another_digit(file: Path, data: bytearray, draw: random.Random, files: list[Path]) -> None:
    digits = [at for at, byte in enumerate(data) if 48 <= byte <= 57]
    if digits:
        data[draw.choice(digits)] = 48 + draw.randrange(10)
        file.write_bytes(data)


def a_link(file: Path, data: bytearray, draw: random.Random, files: list[Path]) -> None:
    file.unlink()
    file.symlink_to(
        draw.choice(["/etc/passwd", "/dev/zero", "/dev/stdin", ".", "..", "/missing", str(draw.choice(files))])
    )


def a_pipe(file: Path, data: bytearray, draw: random.Random, files: list[Path]) -> None:
    file.unlink()
    os.mkfifo(file)


def another_file(file: Path, data: bytearray, draw: random.Random, files: list[Path]) -> None:
    other = draw.choice(files)
    if other.is_file() and not other.is_symlink():
        file.write_bytes(other.read_bytes())


def missing(file: Path, data: bytearray, draw: random.Random, files: list[Path]) -> None:
    file.unlink()


def bytes_at_the_end(file: Path, data: bytearray, draw: random.Random, files: list[Path]) -> None:
    file.write_bytes(data + draw.randbytes(draw.randrange(200)))


def a_part_left_out(file: Path, data: bytearray, draw: random.Random, files: list[Path]) -> None:
    begin, end = sorted((draw.randrange(len(data)), draw.randrange(len(data))))
    file.write_bytes(data[:begin] + data[end:])


DAMAGES: tuple[Callable[[Path, bytearray, random.Random, list[Path]], None], ...] = (
    wrong_bytes,
    truncated,
    huge_numbers,
    another_digit,
    a_link,
    a_pipe,
    another_file,
    missing,
    bytes_at_the_end,
    a_part_left_out,
)


def damage(data: Path, draw: random.Random) -> None:
    files = sorted(file for file in data.rglob("*") if file.is_file())
    for _ in range(draw.choice([1, 1, 2, 3, 8])):
        file = draw.choice(files)
        if file.is_file() and not file.is_symlink() and file.stat().st_size:
            draw.choice(DAMAGES)(file, bytearray(file.read_bytes()), draw, files)


@pytest.mark.thorough
@pytest.mark.parametrize("group", range(_GROUPS))
def test_an_audit_of_damaged_disks_does_not_crash_and_shows_no_loss_that_did_not_happen(group, tmp_path):
    for number in range(group, SETS, _GROUPS):
        draw = random.Random(f"damaged disks {number}")
        run = draw.choice(RUNS)
        data = unpacked(run, tmp_path / str(number))
        damage(data, draw)
        lost = truth_of(run).lost
        try:
            findings = on_disk(data).findings
        except AuditError:  # such as for two cluster ids
            continue
        for finding in findings:
            assert lost is not None, (number, run, finding)
            if finding.what == "committed-loss":
                assert lost[0] <= finding.first_offset <= finding.last_offset <= lost[1], (number, run, finding)
