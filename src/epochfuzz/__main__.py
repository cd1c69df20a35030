"""`python -m epochfuzz` runs the command `epochfuzz`."""

from epochfuzz.harness.cli.main import main

main()
