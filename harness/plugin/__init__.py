"""The pytest plugin: case files are tests."""
