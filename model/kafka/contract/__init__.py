"""What must hold, how it is judged, and what can be seen of a partition from outside."""
