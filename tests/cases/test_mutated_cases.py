"""Mutated case files: each loads, or raises an error with its name and line, but never a traceback.

A number determines each mutation, so that a failure can be reproduced.
"""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from epochfuzz.harness.cases.case import CaseError, dump_case, load_case
from epochfuzz.harness.cases.case_yaml import MAX_BYTES
from epochfuzz.harness.cases.corpus import find_cases
from epochfuzz.harness.cases.verdict import judge

CASES = [path.read_bytes() for path in find_cases([Path(__file__).parents[2] / "corpus"])]

# Words to insert: values of other types, YAML syntax, and troublesome Unicode and numbers.
WORDS = [
    *(b"null ~ yes .inf .nan 1e999 0x1F 017 -1 1_000 1:30 2026-01-01 !!python/object:os.system <<".split()),
    *(b"[] {} [[]] {a: b} 'x \" | > --- ... # : - ? & * ! % @ ` , ]".split(b" ")),
    *(b"A F fetch produce kip-101 hw kip-320:fencing=none no-divergence schema events m0@0 m99@99 m-1@0".split()),
    *("\u202e \x85 \ufeff \u00e9 \U0001f600 \x1b[31m \u2028".encode().split(b" ")),
    *(b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\t", b"\r", b"9" * 5_000, b"[" * 2_000, b"x" * 5_000),
]


def flip(text: bytearray, draw: random.Random) -> None:
    text[draw.randrange(len(text))] ^= 1 << draw.randrange(8)


def insert_a_word(text: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(text) + 1)
    text[at:at] = draw.choice(WORDS)


def replace_a_word(text: bytearray, draw: random.Random) -> None:
    found = list(re.finditer(rb"[^\s,:\[\]{}]+", text))
    word = draw.choice(found)
    text[word.start() : word.end()] = draw.choice([*WORDS, draw.choice(found)[0]])


def delete(text: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(text))
    del text[at : at + draw.choice((1, 2, 10, 100, len(text)))]


def move_a_line(text: bytearray, draw: random.Random) -> None:
    lines = text.splitlines(keepends=True)
    line = draw.choice(lines)
    if draw.random() < 0.5:
        lines.remove(line)
    lines.insert(draw.randrange(len(lines) + 1), line)
    text[:] = b"".join(lines)


def indent_a_line(text: bytearray, draw: random.Random) -> None:
    lines = bytes(text).splitlines(keepends=True)
    at = draw.randrange(len(lines))
    lines[at] = b" " * draw.choice((1, 2, 4)) + lines[at] if draw.random() < 0.7 else lines[at].lstrip()
    text[:] = b"".join(lines)


def graft(text: bytearray, draw: random.Random) -> None:
    """Insert some lines of another case."""
    lines = draw.choice(CASES).splitlines(keepends=True)
    first = draw.randrange(len(lines))
    own = bytes(text).splitlines(keepends=True)
    at = draw.randrange(len(own) + 1)
    own[at:at] = lines[first : first + draw.choice((1, 3, len(lines)))]
    text[:] = b"".join(own)


MUTATIONS: list[Callable[[bytearray, random.Random], None]] = [
    flip, insert_a_word, replace_a_word, delete, move_a_line, indent_a_line, graft,
]  # fmt: skip


def mutated(number: int) -> bytes:
    """Return a case file with one to four mutations, which the number determines."""
    draw = random.Random(number)
    text = bytearray(draw.choice(CASES))
    for _ in range(draw.choice((1, 1, 2, 4))):
        if text:
            draw.choice(MUTATIONS)(text, draw)
    return bytes(text)


def is_read(path: Path) -> bool:
    """Return whether a file loads as a case, which can then be replayed and written again."""
    try:
        case = load_case(path)
    except CaseError as error:
        message = str(error)
        assert re.match(rf"{re.escape(str(path))}(:\d+)?: .", message), message
        assert message.isprintable()
        return False
    assert load_case_from(dump_case(case), path.with_suffix(".again")) == case
    judge(case)
    return True


def load_case_from(text: str, path: Path) -> object:
    path.write_text(text, encoding="utf-8")
    return load_case(path)


def assert_each_loads_or_raises_a_case_error(numbers: range, place: Path) -> None:
    path, read = place / "case.yaml", 0
    for number in numbers:
        path.write_bytes(mutated(number))
        try:
            read += is_read(path)
        except Exception as error:
            raise AssertionError(f"mutation {number}: {type(error).__name__}: {error}") from error
    assert 0.02 < read / len(numbers) < 0.9, "mutations are too mild, or too wild, to say much"


def test_200_mutated_case_files_load_or_raise_a_case_error(tmp_path: Path) -> None:
    assert_each_loads_or_raises_a_case_error(range(200), tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_10000_mutated_case_files_load_or_raise_a_case_error(tmp_path: Path) -> None:
    assert_each_loads_or_raises_a_case_error(range(10_000), tmp_path)


def test_a_case_file_over_the_size_limit_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_bytes(CASES[0] + b"#" * MAX_BYTES)
    assert not is_read(path)
