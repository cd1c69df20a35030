"""Save the progress of local runs, so that the same command resumes a killed run."""
