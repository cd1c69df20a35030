"""Local runs that resume: every kind of work keeps its progress in the same form."""
