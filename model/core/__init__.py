"""Executions, and the linker that makes flat code of rules."""
