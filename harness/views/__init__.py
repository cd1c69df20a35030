"""Show the effects of a schedule: in the terminal, in a browser, and in formats that other tools read."""
