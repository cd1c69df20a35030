"""Load the templates of pages that show schedules step by step. The report and `play` share them.

`play` also runs in a browser, so this module imports only Jinja and the standard library.
"""

import re

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from epochfuzz.harness.trace.scenes import Scene
from epochfuzz.harness.views.drawings import captions, svg


def environment(*packages: str) -> Environment:
    """Return a Jinja environment with the report's templates. It finds the templates of `packages` first."""
    loaders = [PackageLoader(package) for package in (*packages, "epochfuzz.harness.views.report")]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"captions": captions, "figure": _figure, "style": Markup(svg.style())}
    environment.filters["breakable"] = _breakable
    return environment


def _figure(scene: Scene, columns: int) -> Markup:
    return Markup(svg.figure(scene, columns))


def _breakable(protocol: str) -> Markup:
    """Return a protocol's name with a possible line break (<wbr>) after each `:`, `=`, `_` and `,`."""
    return Markup("").join(part + Markup("<wbr>") for part in re.split(r"(?<=[:=_,])", protocol))
