"""Schedules made as short as they can be."""
