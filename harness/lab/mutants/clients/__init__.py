"""Mutants with mistakes in the responses to clients."""
