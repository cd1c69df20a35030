"""Exhaustive search: all states within bounds, the shortest schedules to what breaks, and certificates."""
