"""Walks as the work of a campaign: compiled random schedules, what they broke, and what they have not reached."""
