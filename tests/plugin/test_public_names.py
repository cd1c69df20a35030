"""`import epochfuzz` has the names for a test suite, and imports a module only when a name needs the module."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import epochfuzz

ROOT = Path(__file__).parents[2]
NAMES = [name for name in epochfuzz.__all__ if name != "__version__"]


def test_importing_epochfuzz_imports_only_its_top_module_and_the_standard_library() -> None:
    code = "import sys; before = set(sys.modules); import epochfuzz; print(*sorted(set(sys.modules) - before))"
    result = subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, 'src'); {code}"],
                            cwd=ROOT, capture_output=True, text=True, check=True)  # fmt: skip
    foreign = {name for name in result.stdout.split() if name.partition(".")[0] not in sys.stdlib_module_names}
    assert foreign == {"epochfuzz"}


@pytest.mark.parametrize("name", NAMES)
def test_each_public_name_has_a_docstring_and_is_on_the_pytest_page(name: str) -> None:
    assert (getattr(epochfuzz, name).__doc__ or "").strip()
    page = (ROOT / "docs" / "how-to" / "pytest.md").read_text(encoding="utf-8")
    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", page)


def test_the_imports_for_type_checkers_match_the_lazy_imports() -> None:
    tree = ast.parse((ROOT / "src" / "epochfuzz" / "__init__.py").read_text(encoding="utf-8"))
    imports = {
        alias.name: str(node.module).removeprefix("epochfuzz.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("epochfuzz.")
        for alias in node.names
    }
    imports.pop("epochfuzz_version")
    assert imports == epochfuzz._HOMES
    assert sorted(imports) == NAMES == sorted(NAMES)


def test_dir_of_epochfuzz_lists_the_public_names_and_no_other_name_exists() -> None:
    assert dir(epochfuzz) == sorted(epochfuzz.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = epochfuzz.nothing


def test_the_version_of_epochfuzz_starts_with_a_digit() -> None:
    assert epochfuzz.__version__[0].isdigit()
