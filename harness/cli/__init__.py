"""The command line: what `epochfuzz` and its commands share."""
