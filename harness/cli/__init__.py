"""The command line: code that `epochfuzz` and its commands share."""
