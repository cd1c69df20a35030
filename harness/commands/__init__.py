"""The commands of `epochfuzz`, one per file."""
