"""Draw random schedules, run millions of them, and choose the most useful ones for slow systems under test."""
