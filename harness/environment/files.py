"""Write files in one step."""

import os
from pathlib import Path


def replace_file(path: Path, text: str) -> None:
    """Write a file in one step, so that a reader or a killed process sees either the old or the new text.

    Raises OSError.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
