"""`python -m epochfuzz` is the command `epochfuzz`."""

from epochfuzz.harness.cli.main import main

main()
