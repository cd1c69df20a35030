"""The Python files of the repository, for tests that read sources."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python_files(*directories: str) -> Iterator[Path]:
    """Yield the Python files below some directories of the repository, directory by directory, sorted by path."""
    for directory in directories:
        yield from sorted((ROOT / directory).rglob("*.py"))
