"""What is around a command: the shell and its signals, the project it is called in, GitHub Actions."""
