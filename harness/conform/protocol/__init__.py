"""The protocol between epochfuzz and an adapter: lines of JSON, the adapter's process, and interfaces in Python."""
