"""Declare mutants with mistakes in the responses to clients."""
