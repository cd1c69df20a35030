"""Mistakes in what clients are told."""
