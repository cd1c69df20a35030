"""What schedules have reached: goals, situations, and those that were never reached."""
