"""The properties that must hold, the functions that check them, and the outside view of a partition."""
