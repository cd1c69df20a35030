"""Import the model that `--model module:NAME` names, and parse its protocols and settings."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import Any, TypeVar

from epochfuzz.harness.cli.output import BadInput, as_bad_input
from epochfuzz.model.core.model import Model, Protocol
from epochfuzz.model.core.specializer import CannotSpecialize

_T = TypeVar("_T")


def load(text: str) -> Model:
    """Return the model that `module:NAME` names. Modules in the current directory are found too. Raises BadInput."""
    module, colon, name = text.partition(":")
    if not (module and colon and name):
        raise BadInput(f"--model must be MODULE:NAME, such as mylog:LOG; got {text!r}")
    sys.path.insert(0, str(Path.cwd()))
    try:
        imported = import_module(module)
    except Exception as error:
        raise BadInput(f"--model: {_why_not_imported(module, error)}") from None
    finally:
        sys.path.pop(0)
    made = getattr(imported, name, None)
    if isinstance(made, Model):
        return made
    models = [each for each, value in vars(imported).items() if isinstance(value, Model)]
    there = f"; its models are {', '.join(models)}" if models else "; it has no model"
    raise BadInput(f"--model: {module} has no model {name!r}{there}")


def _why_not_imported(module: str, error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name is not None and f"{module}.".startswith(f"{error.name}."):
        return f"there is no module {module!r}, here or installed"
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}"
    last = extract_tb(error.__traceback__)[-1]
    return f"{last.filename}:{last.lineno}: {type(error).__name__}: {error}"


def protocol_of(model: Model, text: str) -> Protocol:
    """Return the protocol with the name `text` from a model's protocols. Raises BadInput."""
    protocol: Protocol = _parsed("--protocol", model.protocol, text)
    return protocol


def settings_of(model: Model, given: Mapping[str, Any]) -> Any:
    """Return the model's settings, changed by the given options of the command line. Raises BadInput."""
    return _parsed("--model", model.settings.changed_to, given)


def property_of(model: Model, property_: str | None) -> str:
    """Return `property_` if the model has the property. None stands for the most severe property. Raises BadInput."""
    names = model.judgement.names
    if property_ is not None and property_ not in names:
        raise BadInput(f"--property: unknown property {property_!r}; the properties are {', '.join(names)}")
    return names[0] if property_ is None else property_


def _parsed(option: str, parse: Callable[[Any], _T], given: Any) -> _T:
    with as_bad_input(ValueError, option):
        return parse(given)


@contextmanager
def mistakes_as_bad_input() -> Iterator[None]:
    """Turn an error in a model's rules or declarations into BadInput, with the error in the message."""
    from numba.core.errors import NumbaError

    from epochfuzz.harness.engine.explore.explore import NotConfirmed
    from epochfuzz.harness.engine.keys.packing import DoesNotFit

    try:
        with as_bad_input((CannotSpecialize, DoesNotFit, NotConfirmed), "--model"):
            yield
    except NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise BadInput(f"--model: a rule cannot be compiled: {'; '.join(_described(lines))}") from None


def _described(lines: Sequence[str]) -> Sequence[str]:
    """Return at most three lines of a Numba error: its cause and location, without the chain of calls."""
    return [line for line in lines if not line.startswith(("Failed in", "During:", "- ", "There are", ">>>"))][:3]
