"""Links: the position of a user of `play` as the query of an address, and the links that commands print."""
