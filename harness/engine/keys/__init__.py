"""Pack states into keys of a few words. States that differ only in replica names can get the same key."""
