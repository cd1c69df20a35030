"""Explain the names of the model, such as properties and mechanisms, for `epochfuzz explain` and docs/reference/."""
