"""Run epochfuzz with spark-submit: `spark-submit [options] submit.py campaign run ...`, or conform, audit or explore.

spark-submit determines the master and the configuration of Spark. This command prints the path of the file:
`python -c "import epochfuzz.submit; print(epochfuzz.submit.__file__)"`.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    here = str(Path(__file__).resolve().parent)
    sys.path[:] = [place for place in sys.path if place != here]  # else `import model` would work

    from epochfuzz.harness.cli.main import main

    main()
