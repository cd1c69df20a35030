"""The JSON documents that commands print with `--json`: a type for each, against which what builds it is checked.

As a command runs, none of this is imported. `schemas` makes a JSON schema of each, under docs/schemas.
"""
