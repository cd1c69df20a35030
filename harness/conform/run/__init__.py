"""Conformance runs: draw schedules, run them on an adapter, repeat and shrink failures, and report findings."""
