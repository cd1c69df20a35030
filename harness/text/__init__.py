"""Text and plain data: printable text, YAML as people write it, and records as dictionaries."""
