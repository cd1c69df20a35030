"""Random walks by the million."""
