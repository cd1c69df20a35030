"""Pack states into keys of a few words, the same key for states that differ only in the names of replicas."""
