"""Run millions of random schedules, and choose schedules for slow systems."""
