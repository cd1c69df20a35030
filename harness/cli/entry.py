"""The entry point of the command `epochfuzz`."""

import sys

_INTERRUPTED = 130  # a shell's exit code for SIGINT


def run() -> None:
    """Import the application and run it. Ctrl-C during the imports ends the process without a traceback."""
    try:
        from epochfuzz.harness.cli.main import main
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    main()
