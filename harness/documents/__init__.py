"""Declare a type for each JSON document that a command prints with `--json`. mypy checks the code that builds it.

A running command imports none of these modules. `schemas` writes a JSON schema of each document to docs/schemas.
"""
