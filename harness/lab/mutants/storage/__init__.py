"""Declare mutants of a replica's storage."""
