"""Subcommands of `cluster` and `campaign` that have a file of their own."""
