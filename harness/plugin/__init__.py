"""The pytest plugin: it collects case files as tests, and extends the reports of failed state machines."""
