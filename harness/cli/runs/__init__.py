"""The runs of `epochfuzz fuzz` and `epochfuzz conform`: their options as requests, and the display of their results."""
