"""List the files of epochfuzz that a module imports, for modules that need no third-party package."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# The options -I and -S hide all packages that are installed on this machine.
_IMPORTED = """
import json, sys
from importlib import import_module
sys.path[:0] = sys.argv[2:]
import_module(sys.argv[1])
print(json.dumps([module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "epochfuzz"]))
"""


def imported_files(module: str, source: Path, also: Sequence[Path] = ()) -> set[Path]:
    """Return the files of epochfuzz that a Python without installed packages loads when it imports a module.

    `source` is the directory that contains the package epochfuzz. `also` lists directories of other packages that the
    module may import. Raises CalledProcessError if the module needs a package from elsewhere.
    """
    command = [sys.executable, "-I", "-S", "-c", _IMPORTED, module, str(source), *map(str, also)]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {Path(file) for file in json.loads(listed.stdout)}
