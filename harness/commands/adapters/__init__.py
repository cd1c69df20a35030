"""Commands that help to write an adapter."""
