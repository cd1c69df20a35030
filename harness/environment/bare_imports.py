"""List the files that a module needs where nothing of epochfuzz's dependencies is installed."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# -I and -S exclude all packages installed here.
_IMPORTED = """
import json, sys
from importlib import import_module
sys.path[:0] = sys.argv[2:]
import_module(sys.argv[1])
print(json.dumps([module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "epochfuzz"]))
"""


def imported_files(module: str, source: Path, also: Sequence[Path] = ()) -> set[Path]:
    """Return the files of epochfuzz that a bare interpreter imports for a module.

    `source` is the directory of the package epochfuzz, and `also` holds directories of other packages. Raises
    CalledProcessError if the module needs any other package.
    """
    command = [sys.executable, "-I", "-S", "-c", _IMPORTED, module, str(source), *map(str, also)]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {Path(file) for file in json.loads(listed.stdout)}
