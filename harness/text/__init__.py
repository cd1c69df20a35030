"""Make text printable, read YAML fast, convert dataclass instances to dictionaries, and check the ids of cases."""
