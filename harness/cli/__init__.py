"""Code that the commands of `epochfuzz` share: options, output and exit codes."""
