"""Write a position in `play` (a schedule and a step) as the query of a URL, and make the links that commands print."""
