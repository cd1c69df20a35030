"""The environment of a command: the shell and its signals, the project, and GitHub Actions."""
