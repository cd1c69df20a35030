"""The conformance protocol: lines of JSON, the adapter's process, and the adapter's interface."""
