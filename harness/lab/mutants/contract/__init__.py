"""Declare mutants of the checks: properties that miss a violation."""
