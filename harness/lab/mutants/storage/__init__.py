"""Mutants of a replica's storage."""
