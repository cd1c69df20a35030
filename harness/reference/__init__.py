"""Explain each name of the model, for `epochfuzz explain` and the pages of docs/reference/."""
