"""The conformance protocol: lines of JSON, the process of a subject, and what it is asked for."""
