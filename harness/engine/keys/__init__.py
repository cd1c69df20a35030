"""States as keys that fit into few words, the same for states that differ in names only."""
