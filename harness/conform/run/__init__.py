"""Run schedules on adapters: draw, repeat, shrink and report them."""
