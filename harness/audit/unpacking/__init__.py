"""Reading packed files: archives, compressed files, and text in UTF-16, as files of text."""
