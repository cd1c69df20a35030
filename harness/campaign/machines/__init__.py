"""State machines as the work of a campaign: epochfuzz's own, and those of users."""
