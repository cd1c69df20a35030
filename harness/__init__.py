"""Running things: replaying, walking, searching, shrinking, campaigns, and what people see of it."""
