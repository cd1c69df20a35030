"""The commands of `epochfuzz`, one a file."""
