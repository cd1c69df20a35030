"""Steps and executions, and the linker that makes flat code of rules."""
