"""Mistakes in what a replica keeps."""
