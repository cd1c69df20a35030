"""Read archives, compressed files and text in UTF-16 as plain text files."""
