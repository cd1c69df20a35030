"""Record the goals and situations that schedules reached, and those that none reached."""
