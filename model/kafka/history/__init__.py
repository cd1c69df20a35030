"""The guarantees to clients, and the requests that wait for a response. No single broker knows all guarantees."""
