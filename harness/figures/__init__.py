"""Figures: what is written on a drawing of a schedule, and the drawings that are files."""
