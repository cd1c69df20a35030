"""The pytest plugin, which collects case files as tests."""
