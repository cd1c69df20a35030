"""The terms of all rules: events, mechanisms and protocols, settings, the fields of a state, refusals, goals."""
