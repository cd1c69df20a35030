"""The pytest plugin, which collects case files as tests and extends the reports of failed state machines."""
