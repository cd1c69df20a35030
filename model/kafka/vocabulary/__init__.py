"""The definitions for all rules: events, mechanisms, protocols, settings, the fields of a state, refusals, goals."""
