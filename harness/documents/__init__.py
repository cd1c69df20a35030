"""The types of the JSON documents that commands print with `--json`. mypy checks the code that builds the documents.

`python -m epochfuzz.harness.lab.schemas` writes a JSON schema of each document to docs/schemas. At run time, commands
import only the dataclasses of this package, which are in records.py and cluster_records.py.
"""
