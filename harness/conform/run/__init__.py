"""Run schedules on adapters: draw schedules, repeat and shrink failures, and report findings."""
