"""Replay a schedule of events in the model, and describe each step as plain data (scenes) and as sentences."""
