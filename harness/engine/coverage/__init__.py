"""Count the coverage points, called situations, that random schedules reach."""
