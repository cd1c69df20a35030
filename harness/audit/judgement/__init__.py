"""The rules that find losses in the events of a partition."""
