"""`python -m epochfuzz` runs the command `epochfuzz`."""

from epochfuzz.harness.cli.entry import run

run()
