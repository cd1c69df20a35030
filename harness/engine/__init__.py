"""Run random schedules and exhaustive searches of a Model in compiled code, and shrink the failing schedules."""
