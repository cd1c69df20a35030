"""Write the report of a run or a corpus, in a single self-contained HTML file."""
