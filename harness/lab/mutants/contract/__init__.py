"""Mutants of the checks themselves: properties that miss a violation."""
