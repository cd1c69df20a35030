"""Campaigns of random runs: compiled random schedules, the properties they broke, and the situations not reached."""
