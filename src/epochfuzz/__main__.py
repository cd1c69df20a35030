"""`python -m epochfuzz` is the command `epochfuzz`."""

from epochfuzz.harness.cli import main

main()
