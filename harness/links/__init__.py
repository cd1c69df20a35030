"""Write the position of a user of `play` as the query of an address, and make the links that commands print."""
