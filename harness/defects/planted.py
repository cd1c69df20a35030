"""Planting: a copy of the model that has every defect in it, each a choice of one more mechanism.

The copy is written to the cache of compiled kernels and imported as a package of its own, with the engines and the
state machines beside it. There `kip-320:defect=no-truncation` is a protocol like any other: everything that runs
protocols runs it, interpreted or compiled, and one compilation serves all defects.

A rule with defects becomes a choice between its copies:

    def fetch(p, follower):
        if p.defect == 3:
            return fetch_with_defect_3(p, follower)
        return fetch_without_defect(p, follower)
"""

import ast
import hashlib
import importlib
import importlib.util
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import epochfuzz
from epochfuzz.harness.defects import DEFECTS
from epochfuzz.harness.defects.defect import Defect
from epochfuzz.harness.search.compilation import cache_directory

_PACKAGE = "planted"
_ROOT = Path(epochfuzz.__file__).parent
_COPIED = ("model/*.py", "strategies/*.py", "harness/search/*.py")
_IMPORT = re.compile(r"^( *(?:from|import) )epochfuzz\b", re.MULTILINE)

# (module, text, what follows it): the defect as one more mechanism of a protocol and one more constant of a state; and
# every rule is called, for it would take minutes to compile all defects wherever a rule is inlined.
_ADDITIONS = (
    ("protocols", "    isr_expansion: int\n", "    defect: int = 0\n"),
    ("protocols", '    "isr_expansion": ("high_watermark", "epoch_start"),\n', '    "defect": {choices},\n'),
    ("state", '    Field("isr_expansion", CHOICE),\n', '    Field("defect", CHOICE),\n'),
    ("compiled", "_CALLED_MODULES = (epoch_cache, healing, truncation)\n", "_CALLED_MODULES = RULE_MODULES\n"),
)


def protocol_text(defect: Defect) -> str:
    """The protocol with the defect, as the planted copy names it."""
    return f"{defect.protocol}:defect={defect.name}"


def protocol(defect: Defect) -> Any:
    """The protocol with the defect, of the planted copy."""
    return module("model.protocols").parse_protocol(protocol_text(defect))


def module(name: str) -> Any:
    """The module of the planted copy that is called `name` (`model.step`, `harness.search.walk`) in the sound one."""
    _import_package()
    return importlib.import_module(f"{_PACKAGE}.{name}")


@cache
def _import_package() -> None:
    directory = _write(_sources(DEFECTS))
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, directory / "__init__.py", submodule_search_locations=[str(directory)]
    )
    assert spec is not None
    sys.modules[_PACKAGE] = importlib.util.module_from_spec(spec)
    importlib.import_module(f"{_PACKAGE}.model.compiled")  # registers the planted rules before a kernel can call them


def _write(sources: dict[str, str]) -> Path:
    """The directory with the sources, written unless an earlier run has."""
    digest = hashlib.sha256(repr(sorted(sources.items())).encode()).hexdigest()[:16]
    directory = cache_directory() / f"planted-{digest}"
    if not directory.exists():
        fresh = Path(tempfile.mkdtemp(dir=cache_directory()))
        for name, source in sources.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_text(source, encoding="utf-8")
        try:
            fresh.rename(directory)
        except OSError:  # another process was faster
            shutil.rmtree(fresh)
    return directory


def _sources(defects: Iterable[Defect]) -> dict[str, str]:
    """The source of every file of the copy, by its path in the package."""
    paths = [path for pattern in _COPIED for path in _ROOT.glob(pattern)]
    sources = {str(path.relative_to(_ROOT)): path.read_text(encoding="utf-8") for path in paths}
    numbered = list(enumerate(defects, start=1))
    for name in {defect.module for _, defect in numbered}:
        file = f"model/{name}.py"
        sources[file] = plant(sources[file], [(n, defect) for n, defect in numbered if defect.module == name])
    choices = repr(("none", *(defect.name for _, defect in numbered)))
    for name, text, addition in _ADDITIONS:
        file = f"model/{name}.py"
        sources[file] = replaced(sources[file], text, text + addition.replace("{choices}", choices), file)
    sources["model/protocols.py"] = sources["model/protocols.py"].replace("choices, strict=True)", "choices)")
    copied = {name: _IMPORT.sub(rf"\1{_PACKAGE}", source) for name, source in sources.items()}
    return copied | {"__init__.py": "", "harness/__init__.py": ""}


def plant(source: str, defects: Iterable[tuple[int, Defect]]) -> str:
    """A module's source with defects, by number, in it. Raises ValueError where a rule is not there any more."""
    tree = ast.parse(source)
    wrong: dict[str, list[tuple[int, ast.FunctionDef]]] = {}
    for number, defect in defects:
        text = replaced(source, defect.right, defect.wrong, f"{defect.name}: model/{defect.module}.py")
        before, after = _functions(tree), _functions(ast.parse(text))
        for name in before:
            if ast.dump(before[name]) != ast.dump(after[name]):
                wrong.setdefault(name, []).append((number, after[name]))
    for name, copies in wrong.items():
        tree.body += _choice(_functions(tree)[name], copies)
    return ast.unparse(tree)


def replaced(source: str, right: str, wrong: str, where: str) -> str:
    """The source with one text in place of another. Raises ValueError if that is not there exactly once."""
    if source.count(right) != 1:
        raise ValueError(f"{where} has no rule {right.strip()!r}")
    return source.replace(right, wrong)


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _choice(rule: ast.FunctionDef, copies: list[tuple[int, ast.FunctionDef]]) -> list[ast.stmt]:
    """The rule's copies under names of their own, and a function of its name that calls one of them."""
    name, arguments = rule.name, ", ".join(argument.arg for argument in rule.args.args)
    choice = [f"def {name}({arguments}):"]
    for number, copy in copies:
        copy.name = f"{name}_with_defect_{number}"
        choice += [f"    if p.defect == {number}:", f"        return {copy.name}({arguments})"]
    rule.name = f"{name}_without_defect"
    choice.append(f"    return {rule.name}({arguments})")
    return [*(copy for _, copy in copies), *ast.parse("\n".join(choice)).body]
