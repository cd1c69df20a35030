"""Pack states into keys of a few words. States that differ only in the names of replicas can get the same key."""
