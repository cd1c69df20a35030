"""The properties that must hold, the functions that check them, and the visible values of a partition."""
