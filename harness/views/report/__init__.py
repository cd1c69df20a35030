"""Report: what a run or a corpus has to show, as one HTML file that needs nothing else."""
