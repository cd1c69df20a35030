"""Text and plain data: printable text, fast reading of YAML, and records as dictionaries."""
