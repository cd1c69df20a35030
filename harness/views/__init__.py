"""Show the results of runs and the effects of schedules: in the terminal, in HTML, and in formats of other tools."""
