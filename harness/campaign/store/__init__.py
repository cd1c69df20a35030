"""A campaign's directory: what is kept there, read and written through Spark."""
