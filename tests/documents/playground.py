"""The module of .ci/site that builds the playground."""

import sys
from importlib import import_module
from typing import Any

from tests.documents.pages import ROOT

sys.path.insert(0, str(ROOT / ".ci" / "site"))
playground: Any = import_module("playground")
