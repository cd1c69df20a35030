"""Schedules played on subjects: drawn, repeated, shrunk, reported."""
