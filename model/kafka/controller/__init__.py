"""The controller: its decisions, and who is eligible, fenced, or a controller no more."""
