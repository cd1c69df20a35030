"""Compute a digest of the code that the benchmark measures, to tell whether written results are out of date."""

import ast
import hashlib
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[3]
_MEASURED = ("model", "strategies", "harness/engine", "harness/campaign", "harness/lab/bench", "harness/lab/mutants")


def measured_code() -> str:
    """Return the digest of the measured code, as 16 hexadecimal digits. Comments and docstrings don't change it."""
    digest = hashlib.sha256()
    for directory in _MEASURED:
        for path in sorted((_CHECKOUT / directory).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
                    node.body[0] = ast.Pass()
            digest.update(f"{path.relative_to(_CHECKOUT)}\n{ast.unparse(tree)}\n".encode())
    return digest.hexdigest()[:16]
