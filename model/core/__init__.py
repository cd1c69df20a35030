"""Executions, and the linker that turns rules into flat code."""
