"""Write reports of runs and of case files as single HTML files that load nothing."""
