"""Printable text, fast reading of YAML, and dataclass instances as dictionaries."""
