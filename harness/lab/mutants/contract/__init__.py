"""Mistakes in judging: properties that overlook something."""
